/** The file list of a package: its form, its canonical bytes and its digest, the manifest (docs/reference/file-lists.md). */
package dev.launchway.core.packages;

import dev.launchway.core.digest.Sha256;
import dev.launchway.core.text.Utf8;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

public final class FileList {
    /** The name of this form of list, which is part of its bytes. */
    static final String ALGORITHM = "lwfl-1";

    public static final int MAX_FILES = 20_000;
    /** The most bytes of all files together. */
    public static final long MAX_TOTAL = 2L << 30;
    /** The most canonical bytes of a list: as many files as allowed, with the longest paths. */
    public static final int MAX_CANONICAL = 24 << 20;

    /** By path, in the order of the paths' bytes. */
    private final SortedMap<String, ListedFile> files;

    private FileList(SortedMap<String, ListedFile> files) {
        this.files = files;
    }

    /** A list of these files, in any order. */
    public static FileList of(Collection<ListedFile> files) throws PackageException {
        if (files.isEmpty()) {
            throw new PackageException("a file list needs at least one file");
        }
        if (files.size() > MAX_FILES) {
            throw new PackageException("a file list has at most " + MAX_FILES + " files");
        }
        List<String> paths = new ArrayList<String>(files.size());
        SortedMap<String, ListedFile> byPath = new TreeMap<String, ListedFile>(Utf8.ORDER);
        long total = 0;
        for (ListedFile file : files) {
            paths.add(PackagePath.checkFile(Utf8.encode(file.path)));
            byPath.put(file.path, file);
            if (file.size < 0 || file.size > MAX_TOTAL - total) {
                throw new PackageException("the files of a list have at most " + MAX_TOTAL + " bytes together");
            }
            total += file.size;
        }
        PackagePath.checkCollisions(paths);
        return new FileList(Collections.unmodifiableSortedMap(byPath));
    }

    /** The list of what a package holds. Reads and unpacks the whole package, to nowhere. */
    public static FileList ofArchive(PackageArchive archive) throws IOException, PackageException {
        return Unpacking.unpack(archive, new Unpacking.Sink() {
            @Override
            public OutputStream create(String path) {
                return Unpacking.NOWHERE;
            }
        });
    }

    /** Reads canonical bytes. Every other text is refused, also one with the same meaning. */
    public static FileList parse(byte[] bytes) throws PackageException {
        return FileListParser.parse(bytes);
    }

    /** The files, in the order of their paths' bytes. */
    public Collection<ListedFile> files() {
        return files.values();
    }

    /** The file with this path; null if there is none. */
    public ListedFile find(String path) {
        return files.get(path);
    }

    public byte[] canonical() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            writeCanonical(bytes);
        } catch (IOException impossible) {
            throw new IllegalStateException("writing to memory does not fail", impossible);
        }
        return bytes.toByteArray();
    }

    /** The digest of the canonical bytes, without holding them in memory. */
    public Sha256 manifest() {
        MessageDigest hash = Sha256.newHash();
        try {
            writeCanonical(new DigestOutputStream(Unpacking.NOWHERE, hash));
        } catch (IOException impossible) {
            throw new IllegalStateException("hashing does not fail", impossible);
        }
        return Sha256.fromBytes(hash.digest());
    }

    /** The RFC 8785 form, without a library, so that the digest does not depend on one. */
    private void writeCanonical(OutputStream target) throws IOException {
        StringBuilder text = new StringBuilder("{\"alg\":\"" + ALGORITHM + "\",\"files\":[");
        boolean first = true;
        for (ListedFile file : files.values()) {
            text.append(first ? "" : ",");
            first = false;
            // A path has neither control characters nor backslashes, so that the quotation mark alone is escaped.
            text.append("{\"path\":\"").append(file.path.replace("\"", "\\\""));
            text.append("\",\"sha256\":\"").append(file.sha256);
            text.append("\",\"size\":").append(file.size).append('}');
            target.write(Utf8.encode(text.toString()));
            text.setLength(0);
        }
        target.write(Utf8.encode("]}"));
    }
}
