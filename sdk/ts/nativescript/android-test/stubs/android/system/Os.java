/** For tests: stands in for Android's class, and flushes nothing. */
package android.system;

import java.io.File;
import java.io.FileDescriptor;

public final class Os {
    public static FileDescriptor open(String path, int flags, int mode) throws ErrnoException {
        if (!new File(path).isDirectory()) {
            throw new ErrnoException();
        }
        return new FileDescriptor();
    }

    public static void fsync(FileDescriptor descriptor) throws ErrnoException {}

    public static void close(FileDescriptor descriptor) throws ErrnoException {}
}
