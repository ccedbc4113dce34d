/** Prepares what the runtime starts, and tells the client if that is something else than what it chose. */
package dev.launchway.nativescript;

import android.content.Context;
import android.content.pm.PackageInfo;
import android.content.pm.PackageManager;
import android.os.Build;
import android.system.ErrnoException;
import android.system.Os;
import android.system.OsConstants;
import dev.launchway.core.boot.Attempt;
import dev.launchway.core.boot.Content;
import dev.launchway.core.storage.Folder;
import dev.launchway.core.storage.FolderSync;
import dev.launchway.core.storage.StateFiles;
import dev.launchway.core.storage.Storage;
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

    /** @param folder the files of the update that the client chose, `slots/<sha256>/app`; null is the content of the binary */
    void prepare(File folder) {
        Content wanted = folder == null ? Content.EMBEDDED : Content.parse(folder.getParentFile().getName());
        try {
            Content placed = place(wanted == null ? Content.EMBEDDED : wanted);
            if (!placed.equals(wanted)) {
                noteStandIn(placed);
            }
        } catch (IOException failure) {
            // The app folder is as it was. What the client notes of this run stays with the update: nothing better is known.
            return;
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
            long code = Build.VERSION.SDK_INT >= 28 ? info.getLongVersionCode() : info.versionCode;
            return info.lastUpdateTime + "-" + code;
        } catch (PackageManager.NameNotFoundException impossible) {
            throw new IOException(impossible);
        }
    }

    /** How this run ends says nothing about content that did not run. */
    private void noteStandIn(Content placed) throws IOException {
        Storage client = Folder.open(new File(context.getNoBackupFilesDir(), "launchway"), FOLDER_SYNC);
        Attempt chosen = StateFiles.loadAttempt(client);
        if (chosen != null) {
            Attempt attempt = new Attempt(chosen.number, placed, chosen.window);
            attempt.foreground = chosen.foreground;
            StateFiles.saveAttempt(client, attempt);
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
