/** For tests: processes as the test sets them. */
package android.app;

import android.os.Level;
import java.util.ArrayList;
import java.util.List;

public class ActivityManager {
    public static int importance = RunningAppProcessInfo.IMPORTANCE_FOREGROUND;

    /** Newest first. */
    public final List<ApplicationExitInfo> exits = new ArrayList<ApplicationExitInfo>();

    public static class RunningAppProcessInfo {
        public static final int IMPORTANCE_FOREGROUND = 100;

        public int importance;
    }

    public static void getMyMemoryState(RunningAppProcessInfo info) {
        info.importance = importance;
    }

    public List<ApplicationExitInfo> getHistoricalProcessExitReasons(String packageName, int id, int max) {
        Level.require(30);
        return exits;
    }
}
