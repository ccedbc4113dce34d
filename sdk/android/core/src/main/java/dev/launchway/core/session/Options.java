/**
 * How an app wants to be updated: what its `launchway.json` says, and what `configure` changes for this process. Immutable,
 * and checked when it is made.
 */
package dev.launchway.core.session;

import dev.launchway.core.json.FormException;
import dev.launchway.core.json.JsonReader;
import dev.launchway.core.json.JsonValue;
import java.util.Map;

public final class Options {
    /** When the client asks the server by itself. */
    public enum CheckOn {
        /** Once, after the first frame. */
        LAUNCH,
        /** After the first frame, and when the app returns to the foreground. */
        RESUME,
        /** Never. */
        MANUAL
    }

    /** When an update that was downloaded begins to run. */
    public enum Apply {
        NEXT_LAUNCH,
        /** When the app leaves the foreground, where the framework can switch. */
        ON_BACKGROUND,
        /** At once, where the framework can switch. */
        IMMEDIATE
    }

    /** What proves that an update works. */
    public enum ReadyMode {
        /** `sync()` was called and the first frame was drawn. */
        AUTO,
        /** The app says so. */
        MANUAL
    }

    private static final int MAX_FILE = 64 << 10;
    private static final long MIN_READY_TIMEOUT_MS = 1_000;
    private static final long MAX_READY_TIMEOUT_MS = 600_000;
    private static final long MAX_KEPT_SLOTS = 10;

    /** The address of the service's API; null: not configured. */
    public final String serverUrl;
    /** Null: the app's own id. */
    public final String bundleId;
    /** Null: the server's default. */
    public final String configuration;
    public final CheckOn checkOn;
    public final Apply apply;
    public final ReadyMode readyMode;
    public final long readyTimeoutMs;
    public final boolean wifiOnly;
    public final int keepSlots;
    /** The file that every package must contain; null: the framework's. */
    public final String entryFile;
    /** When the binary was built, in milliseconds since 1970; 0 if it does not say. */
    public final long builtAt;

    private final Map<String, JsonValue> members;

    private Options(Map<String, JsonValue> members) throws FormException {
        this.members = members;
        OptionReader reader = new OptionReader(members);
        serverUrl = reader.address("serverUrl");
        bundleId = reader.bundleId("bundleId");
        configuration = reader.configuration("configuration");
        checkOn = CheckOn.values()[reader.choice("checkOn", "launch", "resume", "manual")];
        apply = Apply.values()[reader.choice("apply", "nextLaunch", "onBackground", "immediate")];
        readyMode = ReadyMode.values()[reader.choice("readyMode", "auto", "manual")];
        readyTimeoutMs = reader.number("readyTimeoutMs", 20_000, MIN_READY_TIMEOUT_MS, MAX_READY_TIMEOUT_MS);
        wifiOnly = reader.flag("wifiOnly");
        keepSlots = (int) reader.number("keepSlots", 2, 1, MAX_KEPT_SLOTS);
        entryFile = reader.path("entryFile");
        builtAt = reader.number("builtAt", 0, 0, JsonValue.MAX_INTEGER);
    }

    /** What holds for an app that says nothing. */
    public static Options defaults() {
        try {
            return new Options(JsonValue.newMembers());
        } catch (FormException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** Reads `launchway.json`. Names that are not known are ignored: a newer command line may have written it. */
    public static Options read(byte[] json) throws FormException {
        JsonValue value = JsonReader.read(json, MAX_FILE);
        if (value.asObject() == null) {
            throw new FormException("is not an object");
        }
        return new Options(value.asObject());
    }

    /** These options with those that `configure` was called with. A name that is not an option is an error. */
    public Options with(JsonValue arguments) throws FormException {
        Map<String, JsonValue> merged = JsonValue.newMembers();
        merged.putAll(members);
        for (Map.Entry<String, JsonValue> argument : arguments.asObject().entrySet()) {
            if (!OptionReader.CONFIGURABLE.contains(argument.getKey())) {
                throw new FormException("`" + argument.getKey() + "` is not an option");
            }
            merged.put(argument.getKey(), argument.getValue());
        }
        return new Options(merged);
    }
}
