/** The partial file of a package, named by its SHA-256, with the validator of its bytes. */
package dev.launchway.core.net;

import dev.launchway.core.digest.Sha256;
import dev.launchway.core.storage.Entry;
import dev.launchway.core.storage.Source;
import dev.launchway.core.storage.Storage;
import dev.launchway.core.storage.Target;
import dev.launchway.core.storage.UnsuitableFileException;
import dev.launchway.core.storage.WholeFiles;
import dev.launchway.core.text.Utf8;
import java.io.IOException;
import java.security.MessageDigest;

public final class PartialFile {
    /** The folder of partial files. */
    public static final String FOLDER = "tmp";

    /** The most characters of an ETag. */
    private static final int MAX_ETAG = 256;
    private static final int CHUNK = 64 << 10;

    /** Where the bytes are, in the client's storage. */
    public final String path;

    private final Storage storage;
    private final String etagPath;

    public PartialFile(Storage storage, Sha256 sha256) {
        this.storage = storage;
        this.path = FOLDER + "/" + sha256 + ".part";
        this.etagPath = FOLDER + "/" + sha256 + ".etag";
    }

    /** How many bytes are there. */
    long size() throws IOException {
        Entry entry = storage.entry(path);
        return entry == null ? 0 : entry.size;
    }

    /** The strong ETag of the bytes; null if none is known. */
    String etag() throws IOException {
        try {
            byte[] bytes = WholeFiles.read(storage, etagPath, MAX_ETAG);
            String etag = bytes == null ? null : Utf8.decode(bytes);
            return isStrong(etag) ? etag : null;
        } catch (UnsuitableFileException damaged) {
            return null;
        }
    }

    /** Opens the file to add to its end. */
    Target append() throws IOException {
        return storage.append(path);
    }

    /**
     * Opens an empty file. Its validator is written first: a validator without bytes is harmless, bytes with another one's
     * validator are not.
     */
    Target begin(String etag) throws IOException {
        storage.makeFolder(FOLDER);
        storage.removeFile(path);
        if (isStrong(etag)) {
            WholeFiles.replace(storage, etagPath, Utf8.encode(etag));
        } else {
            storage.removeFile(etagPath);
        }
        return storage.create(path);
    }

    public void discard() throws IOException {
        storage.removeFile(etagPath);
        storage.removeFile(path);
    }

    Sha256 digest() throws IOException {
        MessageDigest hash = Sha256.newHash();
        byte[] buffer = new byte[CHUNK];
        try (Source source = storage.open(path)) {
            long at = 0;
            for (int count = source.read(at, buffer, 0, CHUNK); count >= 0; count = source.read(at, buffer, 0, CHUNK)) {
                hash.update(buffer, 0, count);
                at += count;
            }
        }
        return Sha256.fromBytes(hash.digest());
    }

    /** Only visible ASCII, because an ETag is sent in a header field. */
    private static boolean isStrong(String etag) {
        if (etag == null || etag.length() < 3 || etag.length() > MAX_ETAG) {
            return false;
        }
        for (int at = 0; at < etag.length(); at++) {
            if (etag.charAt(at) <= ' ' || etag.charAt(at) > '~') {
                return false;
            }
        }
        return etag.startsWith("\"") && etag.endsWith("\"");
    }
}
