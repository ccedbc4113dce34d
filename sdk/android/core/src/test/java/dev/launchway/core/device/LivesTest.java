/** Days of a phone: good and bad updates, and the states in which it may be found. */
package dev.launchway.core.device;

import dev.launchway.core.boot.Binary;
import dev.launchway.core.boot.Content;
import dev.launchway.core.boot.Ending;
import dev.launchway.core.net.Request;
import dev.launchway.core.storage.Storage;
import dev.launchway.core.testing.Check;
import dev.launchway.core.testing.FakeServer;
import dev.launchway.core.testing.MemoryDisk;
import dev.launchway.core.testing.Phone;
import dev.launchway.core.testing.TemporaryFolder;
import dev.launchway.core.testing.Update;
import dev.launchway.core.text.Utf8;
import java.util.Arrays;
import java.util.List;

public final class LivesTest {
    private static final List<String> REPORTS = Arrays.asList(
            "downloaded update_1",
            "installed update_1",
            "confirmed update_1",
            "downloaded update_2",
            "installed update_2",
            "crash update_2",
            "rolled_back update_2 crashed",
            "downloaded update_3",
            "installed update_3",
            "confirmed update_3");

    private static Content start(Device device) {
        return device.start(Phone.launch(Ending.EXPLAINED)).content;
    }

    private static Content content(int number) {
        return Update.number(number).content();
    }

    private static void expect(SyncOutcome.Kind kind, Device device) throws SyncException {
        Check.equal(kind, device.sync(Phone.NOBODY).kind);
    }

    /** A good update, a bad one, and the one after it. */
    private static void liveADay(Storage storage) throws Exception {
        FakeServer server = new FakeServer(Update.number(1));
        Phone phone = new Phone(storage);
        try (Device device = phone.process(server)) {
            Check.equal(Content.EMBEDDED, start(device));
            expect(SyncOutcome.Kind.STAGED, device);
            Check.equal(Content.EMBEDDED, device.status().attempt.content);
        }
        try (Device device = phone.process(server)) {
            Check.equal(content(1), start(device));
            Check.that(device.confirm(), "it was on trial");
            Check.that(!device.confirm(), "once is enough");
            expect(SyncOutcome.Kind.NOTHING, device);
            server.offer = Update.number(2);
            expect(SyncOutcome.Kind.STAGED, device);
        }
        try (Device device = phone.process(server)) {
            Check.equal(content(2), start(device));
            device.markCrash("TypeError at app.js:1");
        }
        try (Device device = phone.process(server)) {
            Check.equal(content(1), device.start(Phone.launch(Ending.UNEXPLAINED)).content);
            expect(SyncOutcome.Kind.QUARANTINED, device);
            server.offer = Update.number(3);
            expect(SyncOutcome.Kind.STAGED, device);
        }
        try (Device device = phone.process(server)) {
            Check.equal(content(3), start(device));
            Check.that(device.confirm(), "it was on trial");
            expect(SyncOutcome.Kind.NOTHING, device);
            Check.equal(0, device.status().reports);
        }
        Check.equal(REPORTS, server.reports);
    }

    public void aBadUpdateIsRolledBackAndTheNextIsGood() throws Exception {
        liveADay(new MemoryDisk());
    }

    public void theSameDayOnARealFolder() throws Exception {
        try (TemporaryFolder folder = new TemporaryFolder()) {
            liveADay(folder.storage);
        }
    }

    /** A disk on which the first update runs and is good. */
    static MemoryDisk diskWithFirstUpdate() throws Exception {
        MemoryDisk disk = new MemoryDisk();
        try (Device device = new Phone(disk).process(new FakeServer(Update.number(1)))) {
            start(device);
            expect(SyncOutcome.Kind.STAGED, device);
            start(device);
            Check.that(device.confirm(), "it was on trial");
            expect(SyncOutcome.Kind.NOTHING, device);
        }
        return disk;
    }

    public void aStartWithoutAWindowDoesNotSwitch() throws Exception {
        FakeServer server = new FakeServer(Update.number(1));
        Phone phone = new Phone();
        Launch hidden = new Launch(Phone.launch(Ending.EXPLAINED).binary, false, Ending.EXPLAINED);
        try (Device device = phone.process(server)) {
            start(device);
            device.sync(Phone.NOBODY);
            for (int count = 0; count < 3; count++) {
                Check.equal(Content.EMBEDDED, device.start(hidden).content);
                Check.that(!device.confirm(), "nothing is on trial");
            }
            Check.equal(content(1), start(device));
            // The trial runs without a window, too, but only a window can confirm it.
            Check.equal(content(1), device.start(hidden).content);
            Check.that(!device.confirm(), "nobody saw it");
            device.mark(Mark.FOREGROUND);
            Check.that(device.confirm(), "it came to the foreground");
        }
    }

    public void aNewStoreBinaryDropsWhatWasInstalled() throws Exception {
        Binary[] others = {new Binary("2", "1.0.0", 1), new Binary("1", "1.0.1", 1), new Binary("1", "1.0.0", 2)};
        for (Binary other : others) {
            MemoryDisk disk = diskWithFirstUpdate();
            FakeServer server = new FakeServer();
            try (Device device = new Phone(disk).process(server)) {
                String deviceId = device.status().state.deviceId;
                Check.equal(Content.EMBEDDED, device.start(new Launch(other, true, Ending.CRASH)).content);
                device.sync(Phone.NOBODY);
                Check.equal("[]", disk.filesBelow("slots").keySet().toString());
                Check.equal(deviceId, device.status().state.deviceId);
            }
            Request last = server.requests.get(server.requests.size() - 1);
            Check.that(last.url.contains("currentUpdateId=embedded%3A" + other.code), last.url);
        }
    }

    public void aDowngradeOfTheBinaryRunsItsOwnContent() throws Exception {
        MemoryDisk disk = diskWithFirstUpdate();
        FakeServer server = new FakeServer(Update.number(2));
        try (Device device = new Phone(disk).process(server)) {
            Launch older = new Launch(new Binary("0", "0.9.0", 0), true, Ending.EXPLAINED);
            Check.equal(Content.EMBEDDED, device.start(older).content);
            expect(SyncOutcome.Kind.STAGED, device);
            Check.equal(content(2), device.start(older).content);
        }
        // A newer client wrote a state of another form.
        String state = Utf8.decode(disk.bytes("state.json"));
        disk.write("state.json", Utf8.encode(state.replace("\"form\":1", "\"form\":2")));
        try (Device device = new Phone(disk).process(server)) {
            Check.equal(Content.EMBEDDED, start(device));
        }
    }

    public void resetGoesBackToTheEmbeddedApp() throws Exception {
        FakeServer server = new FakeServer(Update.number(2));
        try (Device device = new Phone(diskWithFirstUpdate()).process(server)) {
            start(device);
            device.reset();
            Check.equal(Content.EMBEDDED, start(device));
            expect(SyncOutcome.Kind.STAGED, device);
            device.reset();
            Check.equal(Content.EMBEDDED, start(device), "what was staged is dropped, too");
        }
    }

    public void theSameBytesUnderANewNumberAreNotDownloadedAgain() throws Exception {
        FakeServer server = new FakeServer(new Update("update_9", "1.0.0", 109, Update.number(1).bytes));
        try (Device device = new Phone(diskWithFirstUpdate()).process(server)) {
            start(device);
            expect(SyncOutcome.Kind.SAME_BYTES, device);
            Check.equal(content(1), start(device));
            expect(SyncOutcome.Kind.NOTHING, device);
        }
        Check.equal(0, server.downloads().size());
        Check.equal("[downloaded update_9, installed update_9, confirmed update_9]", server.reports.toString());
    }

    public void aPhoneRestoredFromABackupBeginsAnew() throws Exception {
        MemoryDisk old = diskWithFirstUpdate();
        // The backup kept the small files but not the packages.
        MemoryDisk restored = new MemoryDisk();
        restored.write("state.json", old.bytes("state.json"));
        restored.write("boot.json", old.bytes("boot.json"));
        expectUpdate(restored);
        // It kept everything but the marks.
        MemoryDisk unmarked = old.copy();
        unmarked.removeFile("slots/" + Update.number(1).sha256 + "/.complete");
        expectUpdate(unmarked);
        // It kept what the operating system says was another installation.
        Launch later = new Launch(new Binary("1", "1.0.0", 5), true, Ending.EXPLAINED);
        try (Device device = new Phone(old).process(new FakeServer())) {
            Check.equal(Content.EMBEDDED, device.start(later).content);
        }
    }

    /** The phone starts the embedded app, and gets the next update. */
    private static void expectUpdate(MemoryDisk disk) throws Exception {
        try (Device device = new Phone(disk).process(new FakeServer(Update.number(2)))) {
            Check.equal(Content.EMBEDDED, start(device));
            expect(SyncOutcome.Kind.STAGED, device);
            Check.equal(content(2), start(device));
        }
    }

    public void aClockThatIsAYearOffChangesNothing() throws Exception {
        for (long off : new long[] {-365, 365, -40_000, 4_000_000}) {
            Phone phone = new Phone(diskWithFirstUpdate());
            phone.clock.now += off * 24 * 60 * 60 * 1000;
            FakeServer server = new FakeServer(Update.number(2));
            try (Device device = phone.process(server)) {
                Check.equal(content(1), start(device));
                expect(SyncOutcome.Kind.STAGED, device);
                Check.equal(content(2), start(device));
                Check.that(device.confirm(), "it was on trial");
                device.sync(Phone.NOBODY);
            }
            Check.that(server.reports.contains("confirmed update_2"), off + " days: " + server.reports);
        }
    }
}
