/** A slot is whole only as it was installed: changes, gaps, links and damaged marks are found. */
package dev.launchway.core.slots;

import dev.launchway.core.boot.Soundness;
import dev.launchway.core.digest.Sha256;
import dev.launchway.core.storage.Entry;
import dev.launchway.core.storage.Storage;
import dev.launchway.core.storage.Target;
import dev.launchway.core.storage.WholeFiles;
import dev.launchway.core.testing.Check;
import dev.launchway.core.testing.MemoryDisk;
import dev.launchway.core.testing.TemporaryFolder;
import dev.launchway.core.testing.Update;
import dev.launchway.core.text.Utf8;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Arrays;

public final class SlotsTest {
    private static final Update UPDATE = Update.number(1);
    private static final String CONTENT = Slots.content(UPDATE.sha256) + "/";

    private final MemoryDisk disk = new MemoryDisk();
    private final Slots slots = new Slots(disk, "index.html");

    private static Sha256 install(Storage storage, Sha256 manifest) throws Exception {
        storage.makeFolder("tmp");
        try (Target part = storage.create("tmp/package")) {
            part.write(UPDATE.bytes, 0, UPDATE.bytes.length);
        }
        return new Slots(storage, "index.html").install("tmp/package", UPDATE.sha256, manifest);
    }

    public void aPackageIsUnpackedByteForByte() throws Exception {
        install(disk, null);
        Check.equal(Update.files(1).keySet(), disk.filesBelow(Slots.content(UPDATE.sha256)).keySet());
        for (String path : Update.files(1).keySet()) {
            Check.that(Arrays.equals(Update.files(1).get(path), disk.bytes(CONTENT + path)), path);
        }
        Check.equal(Soundness.SOUND, slots.soundness(UPDATE.sha256, true));
    }

    public void filesOfAnotherManifestAreNotInstalled() throws Exception {
        Sha256 manifest = install(disk, null);
        install(disk, manifest);
        try {
            install(disk, Sha256.of(new byte[1]));
            throw new AssertionError("installed");
        } catch (InstallException refused) {
            Check.equal(InstallException.Kind.WRONG_FILES, refused.kind);
        }
        Check.equal(Soundness.INCOMPLETE, slots.soundness(UPDATE.sha256, true));
    }

    public void aSlotThatWasChangedIsNotSound() throws Exception {
        String[] changed = {"js/app.js", "new.js", "img/a/logo.svg"};
        for (String path : changed) {
            install(disk, null);
            disk.write(CONTENT + path, Utf8.encode("x"));
            Check.equal(Soundness.DAMAGED, slots.soundness(UPDATE.sha256, true), path);
            Check.equal(Soundness.SOUND, slots.soundness(UPDATE.sha256, false), "hashes are for the first start");
        }
        install(disk, null);
        disk.removeFile(CONTENT + "js/app.js");
        Check.equal(Soundness.DAMAGED, slots.soundness(UPDATE.sha256, true));
        disk.removeFile(CONTENT + "index.html");
        Check.equal(Soundness.NO_ENTRY_FILE, slots.soundness(UPDATE.sha256, false));
        install(disk, null);
        Check.equal(Soundness.SOUND, slots.soundness(UPDATE.sha256, true), "it is installed anew");
    }

    public void damagedMarksAndListsAreFound() throws Exception {
        String slot = "slots/" + UPDATE.sha256 + "/";
        byte[] other = Utf8.encode(Sha256.of(new byte[1]).toString());
        byte[][] marks = {{}, {'x'}, Utf8.encode(UPDATE.sha256 + "0"), {(byte) 0xff}, new byte[100_000], other};
        for (byte[] mark : marks) {
            install(disk, null);
            disk.write(slot + ".complete", mark);
            boolean isDigest = mark == other;
            Soundness expected = isDigest ? Soundness.DAMAGED : Soundness.INCOMPLETE;
            Check.equal(expected, slots.soundness(UPDATE.sha256, true), mark.length + " bytes");
        }
        install(disk, null);
        disk.write(slot + "files.json", Utf8.encode("{}"));
        Check.equal(Soundness.DAMAGED, slots.soundness(UPDATE.sha256, true));
        disk.removeFile(slot + "files.json");
        Check.equal(Soundness.DAMAGED, slots.soundness(UPDATE.sha256, true));
    }

    public void linksInTheFolderAreNotFollowed() throws Exception {
        try (TemporaryFolder folder = new TemporaryFolder();
                TemporaryFolder outside = new TemporaryFolder()) {
            Storage storage = folder.storage;
            File target = outside.storage.file("target");
            Files.write(target.toPath(), Utf8.encode("kept"));
            Files.createSymbolicLink(folder.storage.file("state.json.new").toPath(), target.toPath());
            expectRefusal(storage);
            Check.equal(Entry.Kind.OTHER, storage.entry("state.json.new").kind);
            Check.equal("kept", new String(Files.readAllBytes(target.toPath()), "UTF-8"));
            install(storage, null);
            File entry = folder.storage.file(CONTENT + "index.html");
            Files.move(entry.toPath(), outside.storage.file("moved").toPath());
            Files.createSymbolicLink(entry.toPath(), outside.storage.file("moved").toPath());
            Soundness found = new Slots(storage, "index.html").soundness(UPDATE.sha256, true);
            Check.equal(Soundness.NO_ENTRY_FILE, found);
        }
    }

    public void linksThatLeadNowhereAreNotFollowedEither() throws Exception {
        try (TemporaryFolder folder = new TemporaryFolder();
                TemporaryFolder outside = new TemporaryFolder()) {
            Storage storage = folder.storage;
            File target = outside.storage.file("target");
            Files.createSymbolicLink(folder.storage.file("state.json.new").toPath(), target.toPath());
            expectRefusal(storage);
            Check.that(!target.exists(), "nothing is created outside");
            storage.removeFile("state.json.new");
            WholeFiles.replace(storage, "state.json", new byte[1]);
            storage.makeFolder("slots/a");
            Files.createSymbolicLink(folder.storage.file("slots/a/b").toPath(), target.toPath());
            WholeFiles.removeTree(storage, "slots");
            Check.equal("[state.json]", storage.list("").toString());
        }
    }

    private static void expectRefusal(Storage storage) throws IOException {
        try {
            WholeFiles.replace(storage, "state.json", new byte[1]);
        } catch (IOException refused) {
            return;
        }
        throw new AssertionError("written");
    }
}
