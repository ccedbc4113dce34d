/** What Android has since API level 30. Loaded only there. */
package dev.launchway;

import android.app.ActivityManager;
import android.app.ApplicationExitInfo;
import android.content.Context;

final class Api30 {
    /** Android keeps 16 for each app. */
    private static final int ALL = 0;

    private Api30() {}

    /** Why the process with this id ended after it started; {@link ExitReasons#NOT_LISTED} if Android does not say. */
    static int exitReason(Context context, int id, long startedAt) {
        ActivityManager manager = (ActivityManager) context.getSystemService(Context.ACTIVITY_SERVICE);
        for (ApplicationExitInfo info : manager.getHistoricalProcessExitReasons(null, id, ALL)) {
            if (info.getPid() == id && info.getTimestamp() >= startedAt) {
                return info.getReason();
            }
        }
        return ExitReasons.NOT_LISTED;
    }
}
