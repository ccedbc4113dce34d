/** One process of an app decides; the others follow it and change nothing. */
package dev.launchway.core.device;

import dev.launchway.core.boot.Content;
import dev.launchway.core.boot.Ending;
import dev.launchway.core.testing.Check;
import dev.launchway.core.testing.FakeServer;
import dev.launchway.core.testing.Phone;
import dev.launchway.core.testing.TemporaryFolder;
import dev.launchway.core.testing.Update;
import java.io.File;
import java.io.IOException;
import java.util.Arrays;

public final class TwoProcessesTest {
    private static Content start(Device device) {
        return device.start(Phone.launch(Ending.EXPLAINED)).content;
    }

    public void aSecondProcessFollowsAndChangesNothing() throws Exception {
        try (TemporaryFolder folder = new TemporaryFolder()) {
            Phone phone = new Phone(folder.storage);
            FakeServer server = new FakeServer(Update.number(1));
            try (Device main = phone.process(server)) {
                start(main);
                main.sync(Phone.NOBODY);
                start(main);
                byte[] before = folder.bytes("boot.json");
                try (Device other = phone.process(server)) {
                    Check.that(main.isMain() && !other.isMain(), "one decides");
                    Check.equal(Update.number(1).content(), start(other));
                    Check.that(!other.confirm(), "the other confirms nothing");
                    other.mark(Mark.HANG);
                    other.markCrash("at app.js:1");
                    other.reset();
                    expectNotMain(other);
                }
                Check.that(Arrays.equals(before, folder.bytes("boot.json")), "boot.json is unchanged");
                Check.that(main.confirm(), "the trial continues");
            }
            try (Device next = phone.process(server)) {
                Check.that(next.isMain(), "the lock ends with its process");
            }
        }
    }

    private static void expectNotMain(Device other) {
        try {
            other.sync(Phone.NOBODY);
        } catch (SyncException refused) {
            Check.equal(SyncException.Kind.NOT_MAIN, refused.kind);
            return;
        }
        throw new AssertionError("synced");
    }

    public void aFollowerRunsNothingThatIsNotWhole() throws Exception {
        try (TemporaryFolder folder = new TemporaryFolder()) {
            Phone phone = new Phone(folder.storage);
            FakeServer server = new FakeServer(Update.number(1));
            try (Device main = phone.process(server)) {
                start(main);
                main.sync(Phone.NOBODY);
                start(main);
                folder.storage.removeFile("slots/" + Update.number(1).sha256 + "/.complete");
                try (Device other = phone.process(server)) {
                    Check.equal(Content.EMBEDDED, start(other));
                }
            }
        }
    }

    /** The lock holds between virtual machines, and ends with the one that is killed. */
    public void aLockEndsWithAKilledProcess() throws Exception {
        try (TemporaryFolder folder = new TemporaryFolder()) {
            Process holder = startHolder(folder.storage.file(""));
            try {
                Check.equal((int) 'm', holder.getInputStream().read(), "the other machine decides");
                try (Device device = new Phone(folder.storage).process(new FakeServer())) {
                    Check.that(!device.isMain(), "the lock is held elsewhere");
                }
            } finally {
                holder.destroy();
                holder.waitFor();
            }
            try (Device device = new Phone(folder.storage).process(new FakeServer())) {
                Check.that(device.isMain(), "the lock is free again");
            }
        }
    }

    private static Process startHolder(File folder) throws IOException {
        String java = new File(System.getProperty("java.home"), "bin/java").getPath();
        ProcessBuilder builder = new ProcessBuilder(
                java,
                "-Xmx32m",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                LockHolder.class.getName(),
                folder.getPath());
        return builder.redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }
}
