/** Unpacking takes only what the list names, and hashes while it writes. */
package dev.launchway.core.packages;

import dev.launchway.core.digest.Sha256;
import dev.launchway.core.testing.Check;
import dev.launchway.core.text.Utf8;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

public final class UnpackingTest {
    /** Files in memory. */
    private static final class Files implements Unpacking.Sink {
        final Map<String, ByteArrayOutputStream> written = new TreeMap<String, ByteArrayOutputStream>();
        int closed;

        @Override
        public OutputStream create(String path) {
            ByteArrayOutputStream file = new ByteArrayOutputStream() {
                @Override
                public void close() {
                    closed++;
                }
            };
            written.put(path, file);
            return file;
        }
    }

    public void filesAreWrittenAndListed() throws Exception {
        Files files = new Files();
        try (PackageArchive archive = open("index.html", "<html>", "a/b.js", "let b", "empty/", "")) {
            Unpacking.check(archive, null, "index.html");
            FileList list = Unpacking.unpack(archive, files);
            Check.equal("[a/b.js, index.html]", files.written.keySet().toString());
            Check.equal("let b", Utf8.decode(files.written.get("a/b.js").toByteArray()));
            Check.equal(Sha256.of(Utf8.encode("<html>")), list.find("index.html").sha256);
            Check.equal(2, list.files().size());
            Check.equal(2, files.closed, "files are closed");
            Check.equal(list.manifest(), Sha256.of(list.canonical()));
        }
    }

    public void onlyListedFilesAreWritten() throws Exception {
        FileList list = list("index.html", "<html>", "a.js", "let a");
        check(null, list, "index.html", "<html>", "a.js", "let a");
        check("`b.js` is not in the file list", list, "index.html", "<html>", "a.js", "let a", "b.js", "");
        check("`a.js` is in the file list, but not in the package", list, "index.html", "<html>");
        check("`a.js` is not in the file list", list, "index.html", "<html>", "a.js", "other size");
    }

    public void aFileWithOtherContentIsRefused() throws Exception {
        Files files = new Files();
        try (PackageArchive archive = open("index.html", "<html>", "a.js", "let b")) {
            Unpacking.unpack(archive, list("index.html", "<html>", "a.js", "let a"), files);
        } catch (PackageException refused) {
            Check.equal("the entry `a.js` is not the listed file", refused.getMessage());
            Check.equal(files.written.size(), files.closed, "files are closed");
            return;
        }
        throw new AssertionError("unpacked");
    }

    public void nativeCodeIsRefused() throws Exception {
        String[] paths = {
            "lib/libapp.so", "libc.so.6", "Classes.DEX", "a.jar", "x.dylib", "A.framework/A", "A.framework/", "a.SO/b",
        };
        for (String path : paths) {
            check("is native code", null, "index.html", "", path, "");
        }
        check(null, null, "index.html", "", "also.js", "", "so", "", "dex/jar.txt", "");
    }

    public void thePackageHasTheEntryFile() throws Exception {
        check("does not contain `index.html`", null, "main.js", "");
        check("does not contain `index.html`", null, "index.html/", "", "main.js", "");
    }

    public void aFullDiskIsNoFaultOfThePackage() throws Exception {
        try (PackageArchive archive = open("index.html", "<html>")) {
            Unpacking.unpack(archive, new Unpacking.Sink() {
                @Override
                public OutputStream create(String path) throws IOException {
                    throw new IOException("no space left");
                }
            });
        } catch (IOException failure) {
            Check.equal("no space left", failure.getMessage());
            return;
        }
        throw new AssertionError("unpacked");
    }

    private static void check(String fault, FileList list, String... files) throws Exception {
        try (PackageArchive archive = open(files)) {
            Unpacking.check(archive, list, "index.html");
        } catch (PackageException refused) {
            Check.that(fault != null && refused.getMessage().contains(fault), refused.getMessage());
            return;
        }
        Check.equal(fault, null);
    }

    /** A package of these paths and contents. */
    private static PackageArchive open(String... files) throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ZipOutputStream zip = new ZipOutputStream(bytes)) {
            for (int at = 0; at < files.length; at += 2) {
                zip.putNextEntry(new ZipEntry(files[at]));
                zip.write(Utf8.encode(files[at + 1]));
                zip.closeEntry();
            }
        }
        return PackageArchive.open(new MemorySource(bytes.toByteArray()));
    }

    private static FileList list(String... files) throws PackageException {
        List<ListedFile> listed = new ArrayList<ListedFile>();
        for (int at = 0; at < files.length; at += 2) {
            byte[] content = Utf8.encode(files[at + 1]);
            listed.add(new ListedFile(files[at], content.length, Sha256.of(content)));
        }
        return FileList.of(listed);
    }
}
