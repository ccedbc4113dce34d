/** How the process before ended, as Android says it on each level. */
package dev.launchway;

import android.app.ApplicationExitInfo;
import android.os.Build;
import dev.launchway.core.boot.Ending;
import dev.launchway.core.testing.Check;
import dev.launchway.core.text.Utf8;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;

public final class LastProcessTest {
    public void eachReasonHasItsMeaning() {
        Object[][] table = {
            {"unknown", 0, Ending.UNEXPLAINED},
            {"its own exit", 1, Ending.EXPLAINED},
            {"a signal", 2, Ending.UNEXPLAINED},
            {"low memory", 3, Ending.EXPLAINED},
            {"crash", 4, Ending.CRASH},
            {"native crash", 5, Ending.NATIVE_CRASH},
            {"not responding", 6, Ending.NOT_RESPONDING},
            {"initialization failure", 7, Ending.INITIALIZATION_FAILURE},
            {"permission change", 8, Ending.EXPLAINED},
            {"excessive resource usage", 9, Ending.EXPLAINED},
            {"requested by the user", 10, Ending.EXPLAINED},
            {"user stopped", 11, Ending.EXPLAINED},
            {"dependency died", 12, Ending.EXPLAINED},
            {"other", 13, Ending.EXPLAINED},
            {"freezer", 14, Ending.EXPLAINED},
            {"package state change", 15, Ending.EXPLAINED},
            {"package updated", 16, Ending.EXPLAINED},
            {"of a later level", 99, Ending.UNEXPLAINED},
            {"not listed", ExitReasons.NOT_LISTED, Ending.UNEXPLAINED},
        };
        for (Object[] row : table) {
            Check.equal(row[2], ExitReasons.ending((Integer) row[1]), (String) row[0]);
        }
    }

    public void onlyTheLastProcessCounts() throws Exception {
        try (FakeApplication app = new FakeApplication()) {
            LastProcess last = new LastProcess(new File(app.getNoBackupFilesDir(), "process"));
            Check.equal(Ending.UNEXPLAINED, last.ending(app), "nothing is known");
            long before = System.currentTimeMillis();
            last.replaceByThis();
            app.activities.exits.add(new ApplicationExitInfo(2, before + 1_000, 4));
            Check.equal(Ending.UNEXPLAINED, last.ending(app), "another process");
            app.activities.exits.add(new ApplicationExitInfo(1, before - 1, 4));
            Check.equal(Ending.UNEXPLAINED, last.ending(app), "the same id, but earlier");
            app.activities.exits.add(new ApplicationExitInfo(1, before + 60_000, 6));
            Check.equal(Ending.NOT_RESPONDING, last.ending(app));
        }
    }

    public void beforeAndroid11NothingIsExplained() throws Exception {
        try (FakeApplication app = new FakeApplication()) {
            LastProcess last = new LastProcess(new File(app.getNoBackupFilesDir(), "process"));
            last.replaceByThis();
            Build.VERSION.SDK_INT = 29;
            Check.equal(Ending.UNEXPLAINED, last.ending(app));
        }
    }

    public void aFileWithSomethingElseSaysNothing() throws Exception {
        try (FakeApplication app = new FakeApplication()) {
            File file = new File(app.getNoBackupFilesDir(), "process");
            String[] texts = {"", "1", "1 2 3", "a b", "99999999999999999999 1", "\u0000"};
            for (String text : texts) {
                write(file, Utf8.encode(text));
                Check.equal(Ending.UNEXPLAINED, new LastProcess(file).ending(app), text);
            }
            write(file, new byte[] {(byte) 0xff, ' ', '1'});
            Check.equal(Ending.UNEXPLAINED, new LastProcess(file).ending(app), "not UTF-8");
        }
    }

    private static void write(File file, byte[] bytes) throws IOException {
        try (OutputStream output = new FileOutputStream(file)) {
            output.write(bytes);
        }
    }
}
