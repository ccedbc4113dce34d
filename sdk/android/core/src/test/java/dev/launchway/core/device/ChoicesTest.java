/** An app can download an update first and choose later, sees what is installed, and learns what failed. */
package dev.launchway.core.device;

import dev.launchway.core.boot.Binary;
import dev.launchway.core.boot.BootEvent;
import dev.launchway.core.boot.Content;
import dev.launchway.core.boot.Ending;
import dev.launchway.core.storage.FailedUpdate;
import dev.launchway.core.storage.SlotRecord;
import dev.launchway.core.testing.Check;
import dev.launchway.core.testing.FakeServer;
import dev.launchway.core.testing.MemoryDisk;
import dev.launchway.core.testing.Phone;
import dev.launchway.core.testing.Update;
import dev.launchway.core.text.Utf8;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;

public final class ChoicesTest {
    private final MemoryDisk disk = new MemoryDisk();
    private final Phone phone = new Phone(disk);
    private final FakeServer server = new FakeServer(Update.number(1));

    private Content start(Device device) {
        return device.start(Phone.launch(Ending.EXPLAINED)).content;
    }

    /** A device on which an update is installed and confirmed, and the next one is not yet offered. */
    private Device deviceWith(Update update) throws Exception {
        server.offer = update;
        Device device = phone.process(server);
        start(device);
        Check.equal(SyncOutcome.Kind.STAGED, device.sync(Phone.NOBODY).kind);
        Check.equal(update.content(), start(device));
        Check.that(device.confirm(), "it was on trial");
        return device;
    }

    private static List<String> ids(List<SlotRecord> slots) {
        List<String> ids = new ArrayList<String>();
        for (SlotRecord slot : slots) {
            ids.add(slot.updateId);
        }
        return ids;
    }

    public void aDownloadedUpdateWaitsUntilItIsChosen() throws Exception {
        Device device = phone.process(server);
        start(device);
        Check.equal(SyncOutcome.Kind.DOWNLOADED, device.download(Phone.NOBODY).kind);
        Check.equal(Content.EMBEDDED, start(device));
        Check.equal(SyncOutcome.Kind.DOWNLOADED, device.download(Phone.NOBODY).kind, "again");
        Check.equal(1, server.downloads().size());
        Check.equal("[downloaded update_1]", server.reports.toString());
        Check.equal("[update_1]", ids(device.list()).toString());
        Check.equal("update_1", device.next("update_1").updateId);
        Check.equal(Update.number(1).content(), start(device));
        Check.equal("[downloaded update_1]", server.reports.toString());
    }

    public void aRoundAfterADownloadMakesItNext() throws Exception {
        Device device = phone.process(server);
        start(device);
        device.download(Phone.NOBODY);
        Check.equal(SyncOutcome.Kind.STAGED, device.sync(Phone.NOBODY).kind);
        Check.equal(1, server.downloads().size());
        Check.equal(Update.number(1).content(), start(device));
    }

    public void aDownloadSaysWhyThereIsNothingToInstall() throws Exception {
        Device device = phone.process(server);
        start(device);
        phone.settings.wifiOnly = true;
        server.isMetered = true;
        Check.equal(SyncOutcome.Kind.WAITS_FOR_WIFI, device.download(Phone.NOBODY).kind);
        server.offer = null;
        Check.equal(SyncOutcome.Kind.NOTHING, device.download(Phone.NOBODY).kind);
        Check.equal("[]", ids(device.list()).toString());
    }

    public void theNewestDownloadStaysHoweverManyAreNeeded() throws Exception {
        Device device = deviceWith(Update.number(1));
        server.offer = Update.number(2);
        device.sync(Phone.NOBODY);
        start(device);
        device.confirm();
        server.offer = Update.number(3);
        device.download(Phone.NOBODY);
        server.offer = null;
        device.sync(Phone.NOBODY);
        Check.equal("[update_1, update_2, update_3]", ids(device.list()).toString());
        Check.that(device.next("update_3") != null, "it can be chosen");
        Check.equal(Update.number(3).content(), start(device));
        device.confirm();
        device.sync(Phone.NOBODY);
        Check.equal("[update_2, update_3]", ids(device.list()).toString());
    }

    public void onlyWholePackagesCanBeChosen() throws Exception {
        Device device = deviceWith(Update.number(1));
        server.offer = Update.number(2);
        device.download(Phone.NOBODY);
        Check.equal(null, device.next("update_9"));
        Check.equal(null, device.next("embedded:1"));
        disk.removeFile("slots/" + Update.number(2).sha256 + "/.complete");
        Check.equal(null, device.next("update_2"));
        Check.equal("[update_1]", ids(device.list()).toString());
        Check.equal(Update.number(1).content(), start(device));
    }

    /** A device on which the second update crashed and gave way to the first. */
    private Device deviceAfterRollBack() throws Exception {
        Device device = deviceWith(Update.number(1));
        server.offer = Update.number(2);
        device.sync(Phone.NOBODY);
        start(device);
        device.markCrash("at app.js:1");
        StartOutcome outcome = device.start(Phone.launch(Ending.CRASH));
        Check.equal(Update.number(1).content(), outcome.content);
        Check.equal(BootEvent.Kind.ROLLED_BACK, outcome.events.get(outcome.events.size() - 1).kind);
        return device;
    }

    public void whatFailedCannotBeChosenAgain() throws Exception {
        Device device = deviceAfterRollBack();
        Check.equal(null, device.next("update_2"));
        FailedUpdate failed = device.failed();
        Check.equal("update_2 crashed", failed.updateId + " " + failed.reason);
        Check.equal("1.0.0 102", failed.version + " " + failed.buildNumber);
        Check.equal(Update.number(2).sha256, failed.sha256);
    }

    public void anUpdateThatCouldNotBeInstalledIsRemembered() throws Exception {
        Map<String, byte[]> files = Update.files(1);
        files.put("lib.so", new byte[1]);
        server.offer = new Update("update_1", "1.0.0", 101, Update.pack(files));
        Device device = phone.process(server);
        start(device);
        Check.equal(null, device.failed());
        try {
            device.sync(Phone.NOBODY);
            throw new AssertionError("installed");
        } catch (SyncException refused) {
            Check.equal(refused.getMessage(), device.failed().reason);
        }
        Check.equal("update_1", device.failed().updateId);
        Check.equal(SyncOutcome.Kind.QUARANTINED, device.sync(Phone.NOBODY).kind);
    }

    public void aFailureIsForgottenWhenTheUpdateIsInstalled() throws Exception {
        disk.setFree(8 << 20);
        Device device = phone.process(server);
        start(device);
        try {
            device.sync(Phone.NOBODY);
            throw new AssertionError("installed");
        } catch (SyncException full) {
            Check.equal("update_1", device.failed().updateId);
        }
        disk.setFree(1 << 30);
        Check.equal(SyncOutcome.Kind.STAGED, device.sync(Phone.NOBODY).kind);
        Check.equal(null, device.failed());
    }

    public void aNewStoreBinaryForgetsWhatFailed() throws Exception {
        Device device = deviceAfterRollBack();
        device.start(new Launch(new Binary("2", "1.0.0", 1), true, Ending.EXPLAINED));
        Check.equal(null, device.failed());
        Check.equal("[]", ids(device.list()).toString());
    }

    public void aStateOfAnEarlierClientHasNoFailure() throws Exception {
        Device device = deviceWith(Update.number(1));
        String state = Utf8.decode(disk.bytes("state.json"));
        Check.that(state.contains(",\"failed\":null"), state);
        disk.write("state.json", Utf8.encode(state.replace(",\"failed\":null", "")));
        Check.equal(Update.number(1).content(), start(device));
        disk.write("state.json", Utf8.encode(state.replace("\"failed\":null", "\"failed\":{}")));
        Check.that(device.start(Phone.launch(Ending.EXPLAINED)).problem != null, "another form is corrupt");
    }

    public void onlyTheMainProcessChooses() throws Exception {
        Device device = deviceWith(Update.number(1));
        Device other = phone.process(server);
        Check.that(!other.isMain(), "another process decides");
        Check.equal(ids(device.list()), ids(other.list()));
        try {
            other.next("update_1");
        } catch (SyncException refused) {
            Check.equal(SyncException.Kind.NOT_MAIN, refused.kind);
            return;
        }
        throw new AssertionError("chosen");
    }

    public void anAppThatNeverStartedHasNothing() throws Exception {
        Device device = phone.process(server);
        Check.equal(Collections.emptyList(), device.list());
        Check.equal(null, device.failed());
        try {
            device.next("update_1");
        } catch (SyncException refused) {
            Check.equal(SyncException.Kind.NOT_STARTED, refused.kind);
            return;
        }
        throw new AssertionError("chosen");
    }
}
