/** A hostile package is refused, reported once and never started, and the next good update is installed. */
package dev.launchway.core.device;

import dev.launchway.core.boot.Content;
import dev.launchway.core.boot.Ending;
import dev.launchway.core.json.JsonValue;
import dev.launchway.core.slots.InstallException;
import dev.launchway.core.testing.Check;
import dev.launchway.core.testing.FakeServer;
import dev.launchway.core.testing.MemoryDisk;
import dev.launchway.core.testing.Phone;
import dev.launchway.core.testing.Update;
import dev.launchway.core.testing.Vectors;
import dev.launchway.core.text.Hex;
import dev.launchway.core.text.Utf8;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

public final class HostilePackagesTest {
    private static final int MUTATIONS = 300;

    private static Content start(Device device) {
        return device.start(Phone.launch(Ending.EXPLAINED)).content;
    }

    /** Offers the bytes to a phone. Returns the message of the refusal; null if the package is installed. */
    private static String offer(byte[] bytes, String about) throws Exception {
        Update update = new Update("update_1", "1.0.0", 101, bytes);
        MemoryDisk disk = new MemoryDisk();
        FakeServer server = new FakeServer(update);
        try (Device device = new Phone(disk).process(server)) {
            start(device);
            try {
                device.sync(Phone.NOBODY);
                Check.equal(update.content(), start(device), about);
                return null;
            } catch (SyncException refused) {
                Check.equal(SyncException.Kind.INSTALL, refused.kind, about);
                Check.equal(InstallException.Kind.FAULTY, ((InstallException) refused.getCause()).kind, about);
                Check.equal(Content.EMBEDDED, start(device), about);
                Check.equal(SyncOutcome.Kind.QUARANTINED, device.sync(Phone.NOBODY).kind, about);
                Check.equal(1, server.downloads().size(), about);
                Check.equal("[]", disk.filesBelow("slots").keySet().toString(), about);
                server.offer = Update.number(2);
                Check.equal(SyncOutcome.Kind.STAGED, device.sync(Phone.NOBODY).kind, about);
                Check.equal(Update.number(2).content(), start(device), about);
                return refused.getMessage();
            }
        }
    }

    public void packagesOfTheVectorsAreRefused() throws Exception {
        int count = 0;
        for (JsonValue vector : Vectors.read("hostile-zips/zips.json").get("refused").asArray()) {
            String name = vector.get("name").asText();
            byte[] bytes = Hex.decode(vector.get("zip").asText());
            // No server can offer a package of no bytes.
            if (bytes.length > 0) {
                Check.that(offer(bytes, name) != null, name + " is refused");
                count++;
            }
        }
        Check.that(count >= 70, count + " packages");
    }

    public void packagesWithFilesOfTheWrongKindAreRefused() throws Exception {
        String[] paths = {
            "lib/libapp.so", "libc.so.6", "Classes.DEX", "a.jar", "x.dylib", "A.framework/A", "a.SO/b",
            "../escape", "a/../../escape", "/absolute", "C:/windows", "a\\b", "a//b", "./a", "a/.", "a\u0000b", "a\u0085b",
            "INDEX.HTML", "index.html/inside", "\ufb01le-and-\u0130",
        };
        for (String path : paths) {
            Map<String, byte[]> files = new LinkedHashMap<String, byte[]>();
            files.put("index.html", Utf8.encode("<html>"));
            files.put(path, Utf8.encode("x"));
            String refusal = offer(Update.pack(files), path);
            Check.that((refusal == null) == path.startsWith("\ufb01"), path + ": " + refusal);
        }
    }

    public void packagesWithoutTheEntryFileAreRefused() throws Exception {
        Map<String, byte[]> files = new TreeMap<String, byte[]>();
        files.put("main.js", new byte[1]);
        Check.that(offer(Update.pack(files), "no entry file") != null, "no entry file");
        files.put("index.html/", new byte[0]);
        Check.that(offer(Update.pack(files), "a folder") != null, "a folder instead of the entry file");
        Check.that(offer(new byte[] {'P', 'K'}, "no package") != null, "no package");
    }

    public void aPackageWithTooManyFilesIsRefused() throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ZipOutputStream zip = new ZipOutputStream(bytes)) {
            zip.putNextEntry(new ZipEntry("index.html"));
            zip.closeEntry();
            for (int count = 0; count < 20_000; count++) {
                zip.putNextEntry(new ZipEntry("f" + count));
                zip.closeEntry();
            }
        }
        Check.that(offer(bytes.toByteArray(), "many files") != null, "20,001 files");
    }

    /** A kilobyte that says that it unpacks to more than any package may. */
    public void aPackageThatUnpacksToTooMuchIsRefused() throws Exception {
        Map<String, byte[]> files = new TreeMap<String, byte[]>();
        files.put("index.html", new byte[1 << 20]);
        byte[] bytes = Update.pack(files);
        Check.that(bytes.length < 2_000, "it is small");
        Check.equal(null, offer(bytes.clone(), "a megabyte"));
        // The size in the directory at the end, and in the descriptor behind the data.
        byte[] size = {0, 0, 0x10, 0};
        for (int at = 0; at + 4 <= bytes.length; at++) {
            if (bytes[at] == size[0] && bytes[at + 1] == size[1] && bytes[at + 2] == size[2] && bytes[at + 3] == size[3]) {
                bytes[at + 3] = 0x7f;
            }
        }
        Check.that(offer(bytes, "two gigabytes") != null, "it is refused");
    }

    public void changedPackagesAreInstalledWholeOrRefused() throws Exception {
        byte[] good = Update.number(1).bytes;
        Random random = new Random(9);
        int refused = 0;
        for (int count = 0; count < MUTATIONS; count++) {
            byte[] bytes = good.clone();
            for (int changes = 1 + random.nextInt(3); changes > 0; changes--) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
            }
            refused += offer(bytes, "change " + count) == null ? 0 : 1;
        }
        Check.that(refused > MUTATIONS / 2, refused + " of " + MUTATIONS);
    }

    public void aDiskWithTooLittleRoomIsNoFaultOfThePackage() throws IOException, SyncException {
        MemoryDisk disk = new MemoryDisk();
        // Room for the package, but not for its files.
        disk.setFree((8 << 20) + Update.number(1).bytes.length);
        try (Device device = new Phone(disk).process(new FakeServer(Update.number(1)))) {
            start(device);
            try {
                device.sync(Phone.NOBODY);
                throw new AssertionError("installed");
            } catch (SyncException full) {
                Check.equal(InstallException.Kind.NO_SPACE, ((InstallException) full.getCause()).kind);
            }
            disk.setFree(1 << 30);
            Check.equal(SyncOutcome.Kind.STAGED, device.sync(Phone.NOBODY).kind);
        }
    }
}
