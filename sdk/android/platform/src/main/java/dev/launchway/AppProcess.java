/** What the process is that starts: the one that decides or another, with a window or without. */
package dev.launchway;

import android.app.ActivityManager;
import android.app.ActivityManager.RunningAppProcessInfo;
import android.content.Context;
import android.os.Build;
import dev.launchway.core.text.Utf8;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;

final class AppProcess {
    private static final int MAX_NAME = 1024;

    private AppProcess() {}

    /** Whether this is the process of the app itself. One whose name is not known is. */
    static boolean isMain(Context context) {
        String name = Build.VERSION.SDK_INT >= 28 ? Api28.processName() : nameIn(new File("/proc/self/cmdline"));
        String main = context.getApplicationInfo().processName;
        return name == null || name.isEmpty() || main == null || name.equals(main);
    }

    /** The name that the kernel knows, which ends with a NUL; null if it cannot be read. */
    static String nameIn(File commandLine) {
        byte[] bytes = new byte[MAX_NAME];
        try (InputStream input = new FileInputStream(commandLine)) {
            int count = Math.max(0, input.read(bytes));
            String text = Utf8.decode(Arrays.copyOf(bytes, count));
            int end = text == null ? -1 : text.indexOf('\0');
            return end < 0 ? text : text.substring(0, end);
        } catch (IOException unreadable) {
            return null;
        }
    }

    /**
     * Whether Android starts the process to show a window. It also says so while another app in the foreground uses this one;
     * {@link Visibility} notices when no window comes.
     */
    static boolean hasWindow() {
        RunningAppProcessInfo info = new RunningAppProcessInfo();
        ActivityManager.getMyMemoryState(info);
        return info.importance == RunningAppProcessInfo.IMPORTANCE_FOREGROUND;
    }
}
