/**
 * A phone with an app folder, two installed updates, and a runtime that does what NativeScript's does at a start: it extracts
 * the binary if its note about that is missing or of another binary, and then runs what is in the folder.
 */
package dev.launchway.nativescript;

import dev.launchway.core.boot.Content;
import dev.launchway.core.digest.Sha256;
import dev.launchway.core.storage.Entry;
import dev.launchway.core.storage.Storage;
import dev.launchway.core.storage.Target;
import dev.launchway.core.storage.WholeFiles;
import dev.launchway.core.text.Utf8;
import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;

final class RuntimePhone {
    static final Content FIRST = Content.of(Sha256.of(Utf8.encode("first")));
    static final Content SECOND = Content.of(Sha256.of(Utf8.encode("second")));
    static final String APP = "files/app";
    static final String CLIENT = "no_backup/launchway";
    static final String STAMP_FILE = "no_backup/assetsThumb";

    final Storage storage = new MemoryStorage();
    /** What the runtime notes of the binary that is installed. */
    String stamp = "1700000000000-7";

    RuntimePhone() throws IOException {
        storage.makeFolder("files");
        storage.makeFolder(CLIENT);
        for (Content update : new Content[] {FIRST, SECOND}) {
            write(storage, CLIENT + "/slots/" + update.slot() + "/app", files(update));
        }
        run(storage);
    }

    /** The files of each content: some in all of them, some in one alone. */
    static Map<String, String> files(Content content) {
        Map<String, String> files = new TreeMap<String, String>();
        files.put("package.json", "{\"main\": \"bundle\"}");
        files.put("bundle.js", "run('" + content + "')");
        files.put("images/" + content + "/deep/icon.png", "icon");
        return files;
    }

    Content place(Content wanted) {
        return place(storage, wanted);
    }

    Content place(Storage storage, Content wanted) {
        return new AppFolder(storage, "files", "no_backup", stamp).place(wanted);
    }

    /** Starts the runtime, which may die in between. Returns what it runs. */
    Content run(Storage storage) throws IOException {
        byte[] note = WholeFiles.read(storage, STAMP_FILE, 64);
        if (note == null || !Utf8.decode(note).equals(stamp + "\n")) {
            WholeFiles.removeTree(storage, APP);
            write(storage, APP, files(Content.EMBEDDED));
            try (Target target = storage.create(STAMP_FILE)) {
                target.write(Utf8.encode(stamp + "\n"));
            }
        }
        return running();
    }

    /** The content that the app folder holds whole; null: a mixture, or nothing. */
    Content running() throws IOException {
        Map<String, String> found = read(APP);
        found.remove(AppFolder.MARK);
        for (Content content : new Content[] {Content.EMBEDDED, FIRST, SECOND}) {
            if (found.equals(files(content))) {
                return content;
            }
        }
        return null;
    }

    static void write(Storage storage, String folder, Map<String, String> files) throws IOException {
        for (Map.Entry<String, String> file : files.entrySet()) {
            String path = WholeFiles.join(folder, file.getKey());
            storage.makeFolder(WholeFiles.parent(path));
            try (Target target = storage.create(path)) {
                target.write(Utf8.encode(file.getValue()));
            }
        }
    }

    Map<String, String> read(String folder) throws IOException {
        Map<String, String> files = new TreeMap<String, String>();
        collect(folder, "", files);
        return files;
    }

    private void collect(String folder, String below, Map<String, String> files) throws IOException {
        for (String name : storage.list(below.isEmpty() ? folder : WholeFiles.join(folder, below))) {
            String path = WholeFiles.join(below, name);
            String whole = WholeFiles.join(folder, path);
            if (storage.entry(whole).kind == Entry.Kind.FOLDER) {
                collect(folder, path, files);
            } else {
                files.put(path, text(storage, whole));
            }
        }
    }

    static String text(Storage storage, String path) throws IOException {
        return Utf8.decode(WholeFiles.read(storage, path, 1 << 16));
    }
}
