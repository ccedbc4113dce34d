/** Prepares what the runtime starts, in the folders of the app. */
package dev.launchway.nativescript;

import android.content.Context;
import android.content.pm.PackageInfo;
import android.content.pm.PackageManager;
import android.os.Build;
import android.system.ErrnoException;
import android.system.Os;
import android.system.OsConstants;
import dev.launchway.core.boot.Content;
import dev.launchway.core.storage.Folder;
import dev.launchway.core.storage.FolderSync;
import java.io.File;
import java.io.FileDescriptor;
import java.io.IOException;

final class RuntimeContent {
    private static final FolderSync FOLDER_SYNC = new FolderSync() {
        @Override
        public void sync(File folder) throws IOException {
            syncFolder(folder);
        }
    };

    private final Context context;

    RuntimeContent(Context context) {
        this.context = context;
    }

    /** Whether the runtime will start {@code wanted}. */
    boolean prepare(Content wanted) {
        try {
            return place(wanted).equals(wanted);
        } catch (IOException failure) {
            return false;
        } catch (RuntimeException failure) {
            // From here it would end every start of the app.
            return false;
        }
    }

    private Content place(Content wanted) throws IOException {
        File files = context.getFilesDir().getCanonicalFile();
        File noBackup = context.getNoBackupFilesDir().getCanonicalFile();
        File data = files.getParentFile();
        if (!data.equals(noBackup.getParentFile())) {
            throw new IOException("the folders of the app are not side by side");
        }
        Folder storage = Folder.open(data, FOLDER_SYNC);
        return new AppFolder(storage, files.getName(), noBackup.getName(), stamp()).place(wanted);
    }

    /** What the runtime notes of a binary that it has extracted. */
    @SuppressWarnings("deprecation")
    private String stamp() throws IOException {
        try {
            PackageInfo info = context.getPackageManager().getPackageInfo(context.getPackageName(), 0);
            long code = Build.VERSION.SDK_INT >= 28 ? Api28.versionCode(info) : info.versionCode;
            return info.lastUpdateTime + "-" + code;
        } catch (PackageManager.NameNotFoundException impossible) {
            throw new IOException(impossible);
        }
    }

    private static void syncFolder(File folder) throws IOException {
        try {
            FileDescriptor opened = Os.open(folder.getPath(), OsConstants.O_RDONLY, 0);
            try {
                Os.fsync(opened);
            } finally {
                Os.close(opened);
            }
        } catch (ErrnoException failure) {
            throw new IOException("cannot flush " + folder, failure);
        }
    }
}
