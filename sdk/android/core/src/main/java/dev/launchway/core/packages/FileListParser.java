/** Reads a file list from its canonical bytes, and from no others: whatever parses is written back identically. */
package dev.launchway.core.packages;

import dev.launchway.core.digest.Sha256;
import dev.launchway.core.text.Utf8;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;

final class FileListParser {
    private static final int DIGEST_DIGITS = 64;
    /** Anything near the limits of a list fits. */
    private static final int MAX_SIZE_DIGITS = 10;

    private final byte[] bytes;
    private int at;

    private FileListParser(byte[] bytes) {
        this.bytes = bytes;
    }

    static FileList parse(byte[] bytes) throws PackageException {
        if (bytes.length > FileList.MAX_CANONICAL) {
            throw new PackageException("the file list is too long");
        }
        return new FileListParser(bytes).list();
    }

    private FileList list() throws PackageException {
        expect("{\"alg\":\"" + FileList.ALGORITHM + "\",\"files\":[");
        List<ListedFile> files = new ArrayList<ListedFile>();
        String last = null;
        while (!skip("]}")) {
            if (last != null) {
                expect(",");
            }
            if (files.size() == FileList.MAX_FILES) {
                throw new PackageException("a file list has at most " + FileList.MAX_FILES + " files");
            }
            ListedFile file = file();
            if (last != null && Utf8.ORDER.compare(last, file.path) >= 0) {
                throw wrong();
            }
            last = file.path;
            files.add(file);
        }
        if (at < bytes.length) {
            throw wrong();
        }
        return FileList.of(files);
    }

    private PackageException wrong() {
        return new PackageException("byte " + at + " is not what the canonical form of a file list has there");
    }

    /** The byte at this offset; -1 behind the end. */
    private int peek(int offset) {
        return at + offset < bytes.length ? bytes[at + offset] & 0xff : -1;
    }

    private boolean skip(String expected) {
        for (int index = 0; index < expected.length(); index++) {
            if (peek(index) != expected.charAt(index)) {
                return false;
            }
        }
        at += expected.length();
        return true;
    }

    private void expect(String expected) throws PackageException {
        if (!skip(expected)) {
            throw wrong();
        }
    }

    private ListedFile file() throws PackageException {
        expect("{\"path\":\"");
        String path = path();
        expect(",\"sha256\":\"");
        StringBuilder digits = new StringBuilder(DIGEST_DIGITS);
        while (digits.length() < DIGEST_DIGITS && peek(0) >= 0) {
            digits.append((char) peek(0));
            at++;
        }
        Sha256 sha256 = Sha256.parse(digits.toString());
        if (sha256 == null) {
            throw wrong();
        }
        expect("\",\"size\":");
        long size = size();
        expect("}");
        return new ListedFile(path, size, sha256);
    }

    /** A path up to and including its closing quotation mark. */
    private String path() throws PackageException {
        ByteArrayOutputStream path = new ByteArrayOutputStream();
        while (!skip("\"")) {
            if (!skip("\\\"")) {
                int next = peek(0);
                if (next < 0x20 || next == '\\') {
                    throw wrong();
                }
                path.write(next);
                at++;
            } else {
                path.write('"');
            }
            if (path.size() > PackagePath.MAX_BYTES) {
                throw wrong();
            }
        }
        return PackagePath.checkFile(path.toByteArray());
    }

    /** An integer without sign and leading zeros. */
    private long size() throws PackageException {
        int start = at;
        long size = 0;
        while (peek(0) >= '0' && peek(0) <= '9' && at - start < MAX_SIZE_DIGITS) {
            size = size * 10 + peek(0) - '0';
            at++;
        }
        boolean leadingZero = at - start > 1 && bytes[start] == '0';
        if (at == start || leadingZero) {
            throw wrong();
        }
        return size;
    }
}
