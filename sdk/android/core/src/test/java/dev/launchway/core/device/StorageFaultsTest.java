/**
 * The storage fails, or the process dies, at each call of download, installation and switch: what starts is always whole, and
 * the phone gets its update in the end.
 */
package dev.launchway.core.device;

import dev.launchway.core.boot.Content;
import dev.launchway.core.boot.Ending;
import dev.launchway.core.testing.Check;
import dev.launchway.core.testing.FakeServer;
import dev.launchway.core.testing.MemoryDisk;
import dev.launchway.core.testing.MemoryDisk.Fault;
import dev.launchway.core.testing.MemoryDisk.Leaves;
import dev.launchway.core.testing.Phone;
import dev.launchway.core.testing.Update;
import dev.launchway.core.text.Utf8;
import java.io.IOException;
import java.util.Arrays;
import java.util.Map;

public final class StorageFaultsTest {
    private static final Update FIRST = Update.number(1);
    private static final Update SECOND = Update.number(2);
    /** The most starts until a phone has done everything that is left to do. */
    private static final int MAX_STARTS = 6;

    private static Device open(MemoryDisk disk, FakeServer server) throws IOException {
        return new Phone(disk).process(server);
    }

    /** A start whose content is the embedded app, or all files of one version and no others. */
    private static Content start(Device device, MemoryDisk disk, Ending ending, String about) {
        StartOutcome outcome = device.start(Phone.launch(ending));
        if (outcome.folder != null && !disk.isDead()) {
            Map<String, byte[]> found = disk.filesBelow(outcome.folder);
            Check.that(isVersion(found, 1) || isVersion(found, 2), about + ": runs " + found.keySet());
        }
        return outcome.content;
    }

    private static boolean isVersion(Map<String, byte[]> found, int version) {
        Map<String, byte[]> files = Update.files(version);
        boolean same = found.keySet().equals(files.keySet());
        for (Map.Entry<String, byte[]> file : files.entrySet()) {
            same = same && Arrays.equals(file.getValue(), found.get(file.getKey()));
        }
        return same;
    }

    private static void tryToSync(Device device) {
        try {
            device.sync(Phone.NOBODY);
        } catch (SyncException failed) {
            return;
        }
    }

    private static void tryToConfirm(Device device) {
        try {
            device.confirm();
        } catch (IOException failed) {
            return;
        }
    }

    /** Two updates, one after the other; the first download breaks once. */
    private static void takeTwoUpdates(MemoryDisk disk, String about) throws IOException {
        FakeServer server = new FakeServer(FIRST);
        server.troubles.add(FakeServer.breaksAfter(200));
        try (Device device = open(disk, server)) {
            start(device, disk, Ending.EXPLAINED, about);
            tryToSync(device);
            start(device, disk, Ending.EXPLAINED, about);
            tryToConfirm(device);
            server.offer = SECOND;
            tryToSync(device);
            start(device, disk, Ending.EXPLAINED, about);
            tryToConfirm(device);
            tryToSync(device);
        }
    }

    /** Continues on a disk that works until there is nothing left to do, which must be with the second update. */
    private static void expectSecondUpdate(MemoryDisk disk, String about) throws Exception {
        FakeServer server = new FakeServer(SECOND);
        for (int count = 0; count < MAX_STARTS; count++) {
            try (Device device = open(disk, server)) {
                Content content = start(device, disk, Ending.EXPLAINED, about);
                device.confirm();
                boolean isDone = sync(device) == SyncOutcome.Kind.NOTHING;
                if (isDone && content.equals(SECOND.content())) {
                    Check.that(!device.status().state.boot.trial, about + ": on trial");
                    Check.equal("[]", disk.filesBelow("tmp").keySet().toString(), about);
                    return;
                }
            }
        }
        throw new AssertionError(about + ": the second update never runs");
    }

    /** The kind of the outcome; null if the state was corrupt and is set aside. */
    private static SyncOutcome.Kind sync(Device device) throws SyncException {
        try {
            return device.sync(Phone.NOBODY).kind;
        } catch (SyncException failure) {
            if (failure.kind == SyncException.Kind.CORRUPT) {
                return null;
            }
            throw failure;
        }
    }

    private static int callsOfTwoUpdates() throws IOException {
        MemoryDisk whole = new MemoryDisk();
        takeTwoUpdates(whole, "undisturbed");
        Check.that(whole.calls() > 300, whole.calls() + " calls");
        return whole.calls();
    }

    public void afterADeathAtAnyCallTheUpdateArrivesWhole() throws Exception {
        int calls = callsOfTwoUpdates();
        for (int call = 1; call <= calls; call++) {
            MemoryDisk disk = new MemoryDisk().withFault(call, Fault.DIES);
            takeTwoUpdates(disk, "before the death");
            Check.that(disk.isDead(), "call " + call + " is made");
            for (Leaves leaves : Leaves.values()) {
                expectSecondUpdate(disk.afterDeath(leaves), "death at call " + call + ", " + leaves);
            }
        }
    }

    public void afterAFailureAtAnyCallTheUpdateArrivesWhole() throws Exception {
        int calls = callsOfTwoUpdates();
        for (int call = 1; call <= calls; call++) {
            String about = "failure at call " + call;
            MemoryDisk disk = new MemoryDisk().withFault(call, Fault.FAILS);
            takeTwoUpdates(disk, about);
            expectSecondUpdate(disk.copy(), about);
        }
    }

    public void aStorageThatFailsFromAnyCallOnStartsSomethingWhole() throws Exception {
        int calls = callsOfTwoUpdates();
        // Most calls have the same effect as their neighbors here.
        for (int call = 1; call <= calls; call += 3) {
            String about = "failures from call " + call;
            MemoryDisk disk = new MemoryDisk().withFault(call, Fault.FAILS_FOR_EVER);
            takeTwoUpdates(disk, about);
            takeTwoUpdates(disk, about + ", again");
            expectSecondUpdate(disk.copy(), about);
        }
    }

    /** A disk on which the first update is good and the second, which crashes, is staged. */
    private static MemoryDisk diskWithBadUpdate() throws Exception {
        MemoryDisk disk = new MemoryDisk();
        FakeServer server = new FakeServer(FIRST);
        try (Device device = open(disk, server)) {
            device.start(Phone.launch(Ending.EXPLAINED));
            device.sync(Phone.NOBODY);
            device.start(Phone.launch(Ending.EXPLAINED));
            Check.that(device.confirm(), "the first update is good");
            server.offer = SECOND;
            device.sync(Phone.NOBODY);
        }
        return disk;
    }

    /** Returns whether the crash reached the disk. */
    private static boolean crashAndStart(MemoryDisk disk, String about) throws IOException {
        FakeServer server = new FakeServer(SECOND);
        boolean marked = false;
        try (Device device = open(disk, server)) {
            if (start(device, disk, Ending.EXPLAINED, about).equals(SECOND.content())) {
                device.markCrash("at app.js:1");
                marked = true;
            }
        } catch (IOException failed) {
            marked = false;
        }
        try (Device device = open(disk, server)) {
            start(device, disk, Ending.UNEXPLAINED, about);
        }
        return marked;
    }

    /** The bad update crashes whenever it runs: never again once a crash is on the disk, otherwise one last time. */
    private static void expectRollBack(MemoryDisk disk, boolean marked, String about) throws Exception {
        FakeServer server = new FakeServer(SECOND);
        Ending ending = Ending.EXPLAINED;
        int crashes = 0;
        for (int count = 0; count < MAX_STARTS; count++) {
            try (Device device = open(disk, server)) {
                boolean isBad = start(device, disk, ending, about).equals(SECOND.content());
                ending = isBad ? Ending.CRASH : Ending.EXPLAINED;
                if (isBad) {
                    crashes++;
                    device.markCrash(null);
                }
            }
        }
        Check.that(crashes <= (marked ? 0 : 1), about + ": crashed " + crashes + " times");
        try (Device device = open(disk, server)) {
            Check.equal(FIRST.content(), start(device, disk, Ending.EXPLAINED, about), about);
            Check.equal(SyncOutcome.Kind.QUARANTINED, device.sync(Phone.NOBODY).kind, about);
        }
    }

    public void aFaultAtAnyCallOfARollBackEndsOnTheGoodUpdate() throws Exception {
        MemoryDisk staged = diskWithBadUpdate();
        MemoryDisk whole = staged.copy();
        Check.that(crashAndStart(whole, "undisturbed"), "the crash is marked");
        for (int call = 1; call <= whole.calls(); call++) {
            MemoryDisk failing = staged.withFault(call, Fault.FAILS);
            boolean marked = crashAndStart(failing, "failure");
            expectRollBack(failing.copy(), marked, "failure at call " + call);
            MemoryDisk dying = staged.withFault(call, Fault.DIES);
            marked = crashAndStart(dying, "before the death");
            for (Leaves leaves : Leaves.values()) {
                expectRollBack(dying.afterDeath(leaves), marked, "death at call " + call + ", " + leaves);
            }
        }
    }

    public void aTrialThatCannotBeRecordedDoesNotRun() throws Exception {
        MemoryDisk staged = diskWithBadUpdate();
        MemoryDisk whole = staged.copy();
        try (Device device = open(whole, new FakeServer())) {
            Check.equal(SECOND.content(), start(device, whole, Ending.EXPLAINED, "undisturbed"));
        }
        int recorded = 0;
        for (int call = 1; call <= whole.calls(); call++) {
            MemoryDisk disk = staged.withFault(call, Fault.FAILS);
            try (Device device = open(disk, new FakeServer())) {
                boolean runs = start(device, disk, Ending.EXPLAINED, "call " + call).equals(SECOND.content());
                String attempt = Utf8.decode(disk.bytes("boot.json"));
                Check.that(!runs || attempt.contains(SECOND.sha256.toString()), "call " + call + " is recorded");
                recorded += runs ? 1 : 0;
            }
        }
        Check.that(recorded < whole.calls() / 2, recorded + " of " + whole.calls());
    }

    public void whatStandsInForATrialConfirmsNothing() throws Exception {
        MemoryDisk trial = diskWithBadUpdate();
        try (Device device = open(trial, new FakeServer())) {
            Check.equal(SECOND.content(), start(device, trial, Ending.EXPLAINED, "undisturbed"));
        }
        MemoryDisk whole = trial.copy();
        try (Device device = open(whole, new FakeServer())) {
            start(device, whole, Ending.UNEXPLAINED, "undisturbed");
        }
        int standIns = 0;
        for (int call = 1; call <= whole.calls(); call++) {
            MemoryDisk disk = trial.withFault(call, Fault.FAILS);
            try (Device device = open(disk, new FakeServer())) {
                if (start(device, disk, Ending.UNEXPLAINED, "call " + call).equals(SECOND.content())) {
                    continue;
                }
                standIns++;
                byte[] before = disk.bytes("boot.json");
                Check.that(!device.confirm(), "call " + call + " confirms nothing");
                device.mark(Mark.HANG);
                device.markCrash("at app.js:1");
                Check.that(Arrays.equals(before, disk.bytes("boot.json")), "call " + call + " notes nothing");
                Check.that(device.status().state.boot.trial, "call " + call + " leaves the trial");
            }
        }
        Check.that(standIns > 2, standIns + " starts stand in");
    }

    public void storageThatCannotBeReadStartsTheEmbeddedApp() throws Exception {
        MemoryDisk whole = diskWithBadUpdate();
        MemoryDisk locked = whole.withFault(1, Fault.FAILS_FOR_EVER);
        try (Device device = open(locked, new FakeServer(SECOND))) {
            StartOutcome outcome = device.start(Phone.launch(Ending.EXPLAINED));
            Check.equal(Content.EMBEDDED, outcome.content);
            Check.that(outcome.problem != null, "it says why");
            tryToSync(device);
            tryToConfirm(device);
        }
        for (String file : new String[] {"state.json", "boot.json", "events.jsonl"}) {
            Check.that(Arrays.equals(whole.bytes(file), locked.bytes(file)), file + " is unchanged");
        }
        try (Device device = open(locked.copy(), new FakeServer())) {
            Check.equal(SECOND.content(), device.start(Phone.launch(Ending.EXPLAINED)).content, "after the first unlock");
        }
    }

    public void aStartThatCannotReadTheStateWritesNothing() throws Exception {
        MemoryDisk whole = diskWithBadUpdate();
        MemoryDisk counted = whole.copy();
        try (Device device = open(counted, new FakeServer())) {
            device.start(Phone.launch(Ending.EXPLAINED));
        }
        for (int call = 1; call <= counted.calls(); call++) {
            MemoryDisk locked = whole.withFault(call, Fault.FAILS_FOR_EVER);
            try (Device device = open(locked, new FakeServer())) {
                start(device, locked, Ending.EXPLAINED, "call " + call);
            }
            try (Device device = open(locked.copy(), new FakeServer())) {
                Check.equal(SECOND.content(), device.start(Phone.launch(Ending.EXPLAINED)).content, "call " + call);
            }
        }
    }
}
