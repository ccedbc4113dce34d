/** Whatever fails while an update takes the place of the app folder, the runtime finds a whole app. */
package dev.launchway.nativescript;

import dev.launchway.core.boot.Content;
import dev.launchway.core.storage.Storage;
import dev.launchway.core.testing.Check;
import java.io.IOException;

public final class AppFolderFaultsTest {
    private static final Content[] CONTENTS = {Content.EMBEDDED, RuntimePhone.FIRST, RuntimePhone.SECOND};

    /** The process dies at each operation of the client and of the runtime, and once more in the start that repairs it. */
    public void a_death_anywhere_is_repaired_by_the_next_start() throws IOException {
        int deaths = 0;
        for (Content from : CONTENTS) {
            for (Content to : CONTENTS) {
                for (int at = 0; dies(from, to, at, -1); at++) {
                    deaths++;
                    for (int again = 0; dies(from, to, at, again); again += 5) {
                        deaths++;
                    }
                }
            }
        }
        Check.that(deaths > 1000, "only " + deaths + " deaths");
    }

    /** Whether the first start died, and the second one if it was to. */
    private static boolean dies(Content from, Content to, int at, int again) throws IOException {
        RuntimePhone phone = new RuntimePhone();
        phone.place(from);
        Check.equal(from, phone.run(phone.storage));
        boolean died = start(phone, to, FailingStorage.Fault.DEATH, at);
        if (died && again >= 0) {
            died = start(phone, from, FailingStorage.Fault.DEATH, again);
        }
        String about = from + " to " + to + ", death at " + at + " and " + again;
        Content announced = phone.place(to);
        Check.equal(announced, phone.run(phone.storage), about);
        // A start in which the runtime extracts the binary comes before that of an update.
        Check.that(announced.equals(to) || announced.isEmbedded(), about);
        Check.equal(to, phone.place(to), about);
        Check.equal(to, phone.run(phone.storage), about);
        return died;
    }

    public void a_failure_of_one_operation_starts_what_is_announced() throws IOException {
        for (Content from : CONTENTS) {
            for (Content to : CONTENTS) {
                for (int at = 0; fails(from, to, FailingStorage.Fault.ONE_OPERATION, at); at++) {}
            }
        }
    }

    public void a_storage_that_fails_is_repaired_once_it_works() throws IOException {
        for (Content from : CONTENTS) {
            for (Content to : CONTENTS) {
                for (int at = 0; fails(from, to, FailingStorage.Fault.ALL_FROM_HERE, at); at++) {}
            }
        }
    }

    private static boolean fails(Content from, Content to, FailingStorage.Fault fault, int at) throws IOException {
        RuntimePhone phone = new RuntimePhone();
        phone.place(from);
        phone.run(phone.storage);
        FailingStorage storage = new FailingStorage(phone.storage, fault, at);
        String about = from + " to " + to + ", " + fault + " at " + at;
        Content announced = phone.place(storage, to);
        if (fault == FailingStorage.Fault.ONE_OPERATION) {
            Content running = phone.run(phone.storage);
            Check.that(running != null, about + ": half an app");
            // When reading alone failed, it says that it is not the update, which is never confirmed then.
            Check.that(announced.equals(running) || announced.isEmbedded(), about + ": " + announced + ", not " + running);
        }
        phone.place(to);
        Check.that(phone.run(phone.storage) != null, about);
        Check.equal(to, phone.place(to), about);
        Check.equal(to, phone.run(phone.storage), about);
        return storage.failed();
    }

    /** Whether the process died. */
    private static boolean start(RuntimePhone phone, Content wanted, FailingStorage.Fault fault, int at) throws IOException {
        Storage storage = new FailingStorage(phone.storage, fault, at);
        try {
            Content announced = phone.place(storage, wanted);
            Check.equal(announced, phone.run(storage));
            return false;
        } catch (FailingStorage.Killed killed) {
            return true;
        }
    }
}
