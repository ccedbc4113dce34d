/**
 * How the process before this one ended. Android lists how the app's processes ended, by their ids; a file says which of them
 * was the last, because a restart of the device is not in that list.
 */
package dev.launchway;

import android.content.Context;
import android.os.Build;
import android.os.Process;
import dev.launchway.core.boot.Ending;
import dev.launchway.core.text.Utf8;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Arrays;

final class LastProcess {
    private static final int MAX_BYTES = 64;

    private final File file;

    LastProcess(File file) {
        this.file = file;
    }

    /** Before Android 11 only the app's own notes tell a crash from anything else. */
    Ending ending(Context context) {
        long[] last = read();
        if (Build.VERSION.SDK_INT < 30 || last == null) {
            return Ending.UNEXPLAINED;
        }
        return ExitReasons.ending(Api30.exitReason(context, (int) last[0], last[1]));
    }

    /** The id and the start of the process before, in milliseconds since 1970; null if they are not known. */
    private long[] read() {
        byte[] bytes = new byte[MAX_BYTES];
        try (InputStream input = new FileInputStream(file)) {
            int count = Math.max(0, input.read(bytes));
            String text = Utf8.decode(Arrays.copyOf(bytes, count));
            String[] parts = text == null ? new String[0] : text.split(" ");
            return parts.length == 2 ? new long[] {Long.parseLong(parts[0]), Long.parseLong(parts[1])} : null;
        } catch (IOException unknown) {
            return null;
        } catch (NumberFormatException unknown) {
            return null;
        }
    }

    /** From now on this process is the last one. What a power cut leaves of the file does not matter. */
    void replaceByThis() {
        try (OutputStream output = new FileOutputStream(file)) {
            output.write(Utf8.encode(Process.myPid() + " " + System.currentTimeMillis()));
        } catch (IOException full) {
            // An old file would explain the wrong end.
            file.delete();
        }
    }
}
