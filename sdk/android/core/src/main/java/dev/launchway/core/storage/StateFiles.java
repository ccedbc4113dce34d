/**
 * `state.json` and `boot.json`: how they are read and written (`docs/reference/sdk.md#folder`). Threads take turns with the
 * files of a storage.
 */
package dev.launchway.core.storage;

import dev.launchway.core.boot.Attempt;
import dev.launchway.core.boot.Content;
import dev.launchway.core.json.Fields;
import dev.launchway.core.json.FormException;
import dev.launchway.core.json.JsonReader;
import dev.launchway.core.json.JsonValue;
import dev.launchway.core.json.JsonWriter;
import dev.launchway.core.text.Utf8;
import java.io.IOException;
import java.util.Map;

public final class StateFiles {
    /** The form of both files. A file of another form is corrupt. */
    static final long FORM = 1;
    /** The highest number of an attempt, so far from the highest number of JSON that counting up never reaches it. */
    static final long MAX_ATTEMPTS = JsonValue.MAX_INTEGER / 2;

    private static final String STATE_FILE = "state.json";
    private static final String BOOT_FILE = "boot.json";
    /** The most bytes of a state file. Nearly all of it is trusted metadata, which is 2 MiB at most, escaped. */
    private static final int MAX_STATE = 8 << 20;
    /** The most bytes of a boot file. */
    private static final int MAX_BOOT = 64 << 10;

    private StateFiles() {}

    public static Found<State> loadState(Storage storage) throws IOException {
        Found<Fields> found = load(storage, STATE_FILE, MAX_STATE);
        if (found.content() == null) {
            return found.isCorrupt() ? Found.<State>corrupt() : Found.<State>nothing();
        }
        try {
            return Found.whole(StateJson.read(found.content()));
        } catch (FormException corrupt) {
            return Found.corrupt();
        }
    }

    public static void saveState(Storage storage, State state) throws IOException {
        save(storage, STATE_FILE, StateJson.write(state));
    }

    /** Sets a corrupt state aside, so that the next start begins with an empty state. */
    public static void setStateAside(Storage storage) throws IOException {
        synchronized (storage) {
            storage.rename(STATE_FILE, STATE_FILE + ".corrupt");
            storage.syncFolder("");
        }
    }

    /** The attempt that runs, or ran last; null if there is none, or none that can be understood. */
    public static Attempt loadAttempt(Storage storage) throws IOException {
        Fields fields = load(storage, BOOT_FILE, MAX_BOOT).content();
        try {
            return fields == null ? null : readAttempt(fields);
        } catch (FormException corrupt) {
            return null;
        }
    }

    public static void saveAttempt(Storage storage, Attempt attempt) throws IOException {
        Map<String, JsonValue> members = JsonValue.newMembers();
        members.put("form", JsonValue.of(FORM));
        members.put("number", JsonValue.of(attempt.number));
        members.put("content", write(attempt.content));
        members.put("window", JsonValue.of(attempt.window));
        members.put("foreground", JsonValue.of(attempt.foreground));
        members.put("settled", JsonValue.of(attempt.settled));
        members.put("crashed", JsonValue.of(attempt.crashed));
        members.put("hung", JsonValue.of(attempt.hung));
        save(storage, BOOT_FILE, JsonValue.object(members));
    }

    private static Attempt readAttempt(Fields fields) throws FormException {
        long number = count(fields, "number", MAX_ATTEMPTS);
        Attempt attempt = new Attempt(number, readContent(fields, "content"), fields.bool("window"));
        attempt.foreground = fields.bool("foreground");
        attempt.settled = fields.bool("settled");
        attempt.crashed = fields.bool("crashed");
        attempt.hung = fields.bool("hung");
        return attempt;
    }

    static JsonValue write(Content content) {
        return JsonValue.of(content.toString());
    }

    static Content readContent(Fields fields, String field) throws FormException {
        Content content = Content.parse(fields.text(field));
        if (content == null) {
            throw FormException.ofField(field);
        }
        return content;
    }

    static long count(Fields fields, String field, long max) throws FormException {
        long count = fields.count(field);
        if (count > max) {
            throw FormException.ofField(field);
        }
        return count;
    }

    private static Found<Fields> load(Storage storage, String path, int max) throws IOException {
        try {
            byte[] bytes;
            synchronized (storage) {
                bytes = WholeFiles.read(storage, path, max);
            }
            if (bytes == null) {
                return Found.nothing();
            }
            Fields fields = Fields.of(JsonReader.read(bytes, max), path);
            return fields.count("form") == FORM ? Found.whole(fields) : Found.<Fields>corrupt();
        } catch (UnsuitableFileException corrupt) {
            return Found.corrupt();
        } catch (FormException corrupt) {
            return Found.corrupt();
        }
    }

    private static void save(Storage storage, String path, JsonValue content) throws IOException {
        byte[] bytes = Utf8.encode(JsonWriter.plain(content));
        synchronized (storage) {
            WholeFiles.replace(storage, path, bytes);
        }
    }
}
