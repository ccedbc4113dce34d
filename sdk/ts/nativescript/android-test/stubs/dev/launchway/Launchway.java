/** For tests: a client that chose what the test says, and remembers what it was told. */
package dev.launchway;

import android.content.Context;
import dev.launchway.core.boot.Content;

public final class Launchway {
    public static Content chosen;
    public static boolean showsOtherContent;

    public static Launchway start(Context context) {
        showsOtherContent = false;
        return new Launchway();
    }

    public Content currentContent() {
        return chosen;
    }

    public void showsOtherContent() {
        showsOtherContent = true;
    }
}
