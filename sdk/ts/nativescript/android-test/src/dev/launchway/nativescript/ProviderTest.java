/** What happens before the runtime starts, with the folders of an app on a real file system. */
package dev.launchway.nativescript;

import android.content.ContentProvider;
import android.content.Context;
import android.content.pm.PackageInfo;
import android.content.pm.PackageManager;
import dev.launchway.Launchway;
import dev.launchway.core.boot.Content;
import dev.launchway.core.storage.WholeFiles;
import dev.launchway.core.testing.Check;
import dev.launchway.core.testing.TemporaryFolder;
import java.io.File;
import java.io.IOException;
import java.util.Collections;

public final class ProviderTest {
    private static final Content UPDATE = RuntimePhone.FIRST;
    private static final String SLOT = RuntimePhone.CLIENT + "/slots/" + UPDATE.slot() + "/app";

    public void an_update_that_was_chosen_is_what_the_runtime_finds() throws IOException {
        try (TemporaryFolder data = phone("1700000000000-7")) {
            Check.that(!showsOtherContent(data, UPDATE), "the update runs");
            Check.equal(UPDATE.toString(), text(data, "files/app/" + AppFolder.MARK));
            Check.equal("update", text(data, "files/app/bundle.js"));
            Check.that(!showsOtherContent(data, Content.EMBEDDED), "the binary runs");
            Check.equal(null, data.storage.entry(RuntimePhone.STAMP_FILE), "the runtime extracts the binary");
        }
    }

    public void the_client_learns_that_something_else_runs() throws IOException {
        try (TemporaryFolder data = phone("1600000000000-6")) {
            Check.that(showsOtherContent(data, UPDATE), "the runtime extracts the binary");
            Check.equal("binary", text(data, "files/app/bundle.js"));
        }
        try (TemporaryFolder data = phone("1700000000000-7")) {
            WholeFiles.removeTree(data.storage, SLOT);
            RuntimePhone.write(data.storage, WholeFiles.parent(SLOT), Collections.singletonMap("app", "not a folder"));
            Check.that(showsOtherContent(data, UPDATE), "the copy failed");
            Check.equal("binary", text(data, "files/app/bundle.js"));
        }
    }

    public void folders_that_are_not_side_by_side_are_left_alone() throws IOException {
        try (TemporaryFolder data = phone("1700000000000-7")) {
            data.storage.makeFolder("elsewhere/files");
            ContentProvider.context = new App(data.storage.file("elsewhere/files"), data.storage.file("no_backup"));
            Launchway.chosen = UPDATE;
            new LaunchwayNativeScriptProvider().onCreate();
            Check.that(Launchway.showsOtherContent, "the update does not run");
        }
    }

    public void a_phone_without_folders_starts_all_the_same() throws IOException {
        try (TemporaryFolder data = phone("1700000000000-7")) {
            ContentProvider.context = new App(null, data.storage.file("no_backup"));
            Launchway.chosen = UPDATE;
            Check.that(new LaunchwayNativeScriptProvider().onCreate(), "created");
            Check.that(Launchway.showsOtherContent, "the update does not run");
        }
    }

    public void a_start_without_an_update_changes_nothing() throws IOException {
        try (TemporaryFolder data = phone("1700000000000-7")) {
            Check.that(!showsOtherContent(data, Content.EMBEDDED), "the binary runs");
            Check.equal("binary", text(data, "files/app/bundle.js"));
            Check.that(data.storage.entry(RuntimePhone.STAMP_FILE) != null, "the note of the runtime");
        }
    }

    /** A phone whose runtime has extracted the binary of {@code stamp}, with an update. */
    private static TemporaryFolder phone(String stamp) throws IOException {
        TemporaryFolder data = new TemporaryFolder();
        RuntimePhone.write(data.storage, "files/app", Collections.singletonMap("bundle.js", "binary"));
        RuntimePhone.write(data.storage, "no_backup", Collections.singletonMap("assetsThumb", stamp + "\n"));
        RuntimePhone.write(data.storage, SLOT, Collections.singletonMap("bundle.js", "update"));
        return data;
    }

    /** Starts the app when the client chose this, and returns what the client was told. */
    private static boolean showsOtherContent(TemporaryFolder data, Content chosen) {
        ContentProvider.context = new App(data.storage.file("files"), data.storage.file("no_backup"));
        Launchway.chosen = chosen;
        Check.that(new LaunchwayNativeScriptProvider().onCreate(), "created");
        return Launchway.showsOtherContent;
    }

    private static String text(TemporaryFolder data, String path) throws IOException {
        return RuntimePhone.text(data.storage, path);
    }

    private static final class App extends Context {
        private final File files;
        private final File noBackup;

        App(File files, File noBackup) {
            this.files = files;
            this.noBackup = noBackup;
        }

        @Override
        public File getFilesDir() {
            return files;
        }

        @Override
        public File getNoBackupFilesDir() {
            return noBackup;
        }

        @Override
        public String getPackageName() {
            return "com.example.app";
        }

        @Override
        public PackageManager getPackageManager() {
            return new PackageManager() {
                @Override
                @SuppressWarnings("deprecation")
                public PackageInfo getPackageInfo(String name, int flags) {
                    PackageInfo info = new PackageInfo();
                    info.versionCode = 7;
                    info.lastUpdateTime = 1700000000000L;
                    return info;
                }
            };
        }
    }
}
