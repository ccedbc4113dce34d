/** What happens before the runtime starts, with the folders of an app on a real file system. */
package dev.launchway.nativescript;

import android.content.ContentProvider;
import android.content.Context;
import android.content.pm.PackageInfo;
import android.content.pm.PackageManager;
import dev.launchway.Launchway;
import dev.launchway.core.boot.Attempt;
import dev.launchway.core.boot.Content;
import dev.launchway.core.storage.Folder;
import dev.launchway.core.storage.StateFiles;
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
            Check.equal(UPDATE, attemptAfterStart(data, SLOT).content, "what runs");
            Check.equal(UPDATE.toString(), text(data, "files/app/" + AppFolder.MARK));
            Check.equal("update", text(data, "files/app/bundle.js"));
            attemptAfterStart(data, null);
            Check.equal(null, data.storage.entry(RuntimePhone.STAMP_FILE), "the runtime extracts the binary");
        }
    }

    public void a_stand_in_says_nothing_about_the_update() throws IOException {
        try (TemporaryFolder data = phone("1600000000000-6")) {
            Attempt attempt = attemptAfterStart(data, SLOT);
            Check.equal(Content.EMBEDDED, attempt.content, "what runs");
            Check.equal("5 true", attempt.number + " " + attempt.window);
            Check.equal("binary", text(data, "files/app/bundle.js"));
        }
    }

    public void a_start_without_an_update_changes_nothing() throws IOException {
        try (TemporaryFolder data = phone("1700000000000-7")) {
            Check.equal(UPDATE, attemptAfterStart(data, null).content, "what the client noted");
            Check.equal("binary", text(data, "files/app/bundle.js"));
            Check.that(data.storage.entry(RuntimePhone.STAMP_FILE) != null, "the note of the runtime");
        }
    }

    /** A phone whose runtime has extracted the binary of {@code stamp}, with an update that the client chose. */
    private static TemporaryFolder phone(String stamp) throws IOException {
        TemporaryFolder data = new TemporaryFolder();
        RuntimePhone.write(data.storage, "files/app", Collections.singletonMap("bundle.js", "binary"));
        RuntimePhone.write(data.storage, "no_backup", Collections.singletonMap("assetsThumb", stamp + "\n"));
        RuntimePhone.write(data.storage, SLOT, Collections.singletonMap("bundle.js", "update"));
        StateFiles.saveAttempt(client(data), new Attempt(5, UPDATE, true));
        return data;
    }

    private static Folder client(TemporaryFolder data) throws IOException {
        return Folder.open(data.storage.file(RuntimePhone.CLIENT), folder -> {});
    }

    private static Attempt attemptAfterStart(TemporaryFolder data, String chosen) throws IOException {
        ContentProvider.context = new App(data.storage.file(""));
        Launchway.folder = chosen == null ? null : data.storage.file(chosen);
        Check.that(new LaunchwayNativeScriptProvider().onCreate(), "created");
        return StateFiles.loadAttempt(client(data));
    }

    private static String text(TemporaryFolder data, String path) throws IOException {
        return RuntimePhone.text(data.storage, path);
    }

    private static final class App extends Context {
        private final File data;

        App(File data) {
            this.data = data;
        }

        @Override
        public File getFilesDir() {
            return new File(data, "files");
        }

        @Override
        public File getNoBackupFilesDir() {
            return new File(data, "no_backup");
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
