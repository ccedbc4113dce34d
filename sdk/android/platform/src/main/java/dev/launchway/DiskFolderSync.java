/** Flushes the names in a folder to disk, by the system call that Java does not have. */
package dev.launchway;

import android.system.ErrnoException;
import android.system.Os;
import android.system.OsConstants;
import dev.launchway.core.storage.FolderSync;
import java.io.File;
import java.io.FileDescriptor;
import java.io.IOException;

final class DiskFolderSync implements FolderSync {
    @Override
    public void sync(File folder) throws IOException {
        try {
            FileDescriptor open = Os.open(folder.getPath(), OsConstants.O_RDONLY, 0);
            try {
                Os.fsync(open);
            } finally {
                Os.close(open);
            }
        } catch (ErrnoException failure) {
            throw new IOException("cannot flush " + folder, failure);
        }
    }
}
