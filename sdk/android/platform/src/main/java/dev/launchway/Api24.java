/** What Android has since API level 24. Loaded only there. */
package dev.launchway;

import android.content.Context;
import android.os.UserManager;

final class Api24 {
    private Api24() {}

    /** Whether the app's own storage can be read: not before the user has unlocked the device for the first time. */
    static boolean isUserUnlocked(Context context) {
        UserManager manager = (UserManager) context.getSystemService(Context.USER_SERVICE);
        return manager == null || manager.isUserUnlocked();
    }
}
