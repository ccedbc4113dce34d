/** For tests: notes which folders were flushed. */
package android.system;

import java.io.File;
import java.io.FileDescriptor;
import java.util.ArrayList;
import java.util.List;

public final class Os {
    public static final List<String> FLUSHED = new ArrayList<String>();
    private static String opened;

    private Os() {}

    public static FileDescriptor open(String path, int flags, int mode) throws ErrnoException {
        if (!new File(path).isDirectory()) {
            throw new ErrnoException("open", 2);
        }
        opened = path;
        return new FileDescriptor();
    }

    public static void fsync(FileDescriptor file) throws ErrnoException {
        FLUSHED.add(opened);
    }

    public static void close(FileDescriptor file) throws ErrnoException {
        opened = null;
    }
}
