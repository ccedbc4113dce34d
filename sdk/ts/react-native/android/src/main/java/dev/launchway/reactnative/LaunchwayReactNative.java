/** Tells the app which bundle to load: that of the update that runs, or its own. */
package dev.launchway.reactnative;

import android.content.Context;
import dev.launchway.Launchway;
import java.io.File;

public final class LaunchwayReactNative {
    private static final String BUNDLE = "index.android.bundle";

    /** Whether the app loads what it is told to. An update that does not run must not be confirmed. */
    static volatile boolean isAsked;

    private LaunchwayReactNative() {}

    /**
     * For {@code getJSBundleFile()} of the app's ReactNativeHost, or {@code jsBundleFilePath} of {@code getDefaultReactHost}.
     * React Native asks once in a process. Null is the bundle of the binary.
     */
    public static String jsBundleFile(Context context) {
        isAsked = true;
        File folder = Launchway.start(context).currentPath();
        return folder == null ? null : new File(folder, BUNDLE).getPath();
    }
}
