/** The app from the store, as `app.json` in the directory of a phone describes it. */
package dev.launchway.phone;

import dev.launchway.core.boot.Binary;
import dev.launchway.core.boot.Ending;
import dev.launchway.core.device.Launch;
import dev.launchway.core.device.Ports;
import dev.launchway.core.device.Settings;
import dev.launchway.core.device.SignedTrust;
import dev.launchway.core.device.UpdateTrust;
import dev.launchway.core.json.Fields;
import dev.launchway.core.json.FormException;
import dev.launchway.core.json.JsonReader;
import dev.launchway.core.json.JsonValue;
import dev.launchway.core.json.JsonWriter;
import dev.launchway.core.text.Utf8;
import dev.launchway.core.trust.RoleException;
import dev.launchway.core.trust.TrustClient;
import dev.launchway.core.trust.TrustFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Map;

final class StoreApp {
    private static final int MAX_FILE = 1 << 20;

    private final String serverUrl;
    private final String bundleId;
    private final String version;
    private final String build;
    private final String configuration;
    private final String fingerprint;
    private final String entryFile;
    /** The text of its trust file; null if it carries none. */
    private final String trust;
    /** When it was installed and, as far as signed updates are concerned, built: milliseconds since 1970. */
    private final long installedAt;

    /** The app that `init` describes, installed now. */
    StoreApp(Arguments arguments, long now) throws Failure {
        expectPlatform(arguments.platform);
        String url = arguments.option("--url", System.getenv("LAUNCHWAY_URL"));
        if (url == null) {
            throw Failure.usage("no server specified", "give --url, or set LAUNCHWAY_URL");
        }
        serverUrl = apiOf(url);
        bundleId = arguments.required("--bundle-id");
        version = arguments.required("--version");
        build = arguments.required("--build");
        configuration = arguments.option("--configuration", null);
        fingerprint = arguments.option("--fingerprint", null);
        entryFile = arguments.option("--entry-file", "index.html");
        trust = arguments.option("--trust", null) == null ? null : read(arguments.option("--trust", null));
        installedAt = now;
        checkTrust();
    }

    private StoreApp(Fields fields) throws FormException, Failure {
        expectPlatform(fields.text("platform"));
        serverUrl = apiOf(fields.text("serverUrl"));
        bundleId = fields.text("bundleId");
        version = fields.text("version");
        build = fields.text("build");
        configuration = textOrNull(fields, "configuration");
        fingerprint = textOrNull(fields, "fingerprint");
        entryFile = fields.text("entryFile");
        trust = textOrNull(fields, "trust");
        installedAt = fields.count("installedAt");
    }

    private static String textOrNull(Fields fields, String name) throws FormException {
        return fields.has(name) && !fields.value(name).isNull() ? fields.text(name) : null;
    }

    private static void expectPlatform(String platform) throws Failure {
        if (!Settings.PLATFORM.equals(platform)) {
            throw Failure.usage("the client in Java is for " + Settings.PLATFORM + " only", null);
        }
    }

    /** The address as people write it, with `/api` at its end. */
    private static String apiOf(String url) throws Failure {
        String address = url.trim().replaceAll("/+$", "");
        if (!address.startsWith("https://") && !address.startsWith("http://")) {
            throw Failure.usage("the address of the server must start with https:// or http://", null);
        }
        return address.endsWith("/api") ? address : address + "/api";
    }

    private static String read(String path) throws Failure {
        String text;
        try {
            text = Utf8.decode(Files.readAllBytes(Paths.get(path)));
        } catch (IOException unreadable) {
            throw Failure.usage("cannot read " + path + ": " + unreadable.getMessage(), null);
        }
        if (text == null) {
            throw Failure.usage("cannot read " + path + ": it is not UTF-8", null);
        }
        return text;
    }

    private void checkTrust() throws Failure {
        try {
            if (trust != null) {
                TrustClient.open(TrustFile.parse(Utf8.encode(trust)), bundleId, configuration, null);
            }
        } catch (FormException unreadable) {
            throw Failure.failed("app.json is not valid: trust: " + unreadable.getMessage());
        } catch (RoleException refused) {
            throw Failure.failed("the trust file is not valid for this app: " + refused.getMessage());
        }
    }

    static StoreApp load(Path directory) throws Failure {
        Path file = directory.resolve("app.json");
        try {
            return new StoreApp(Fields.of(JsonReader.read(Files.readAllBytes(file), MAX_FILE), "app.json"));
        } catch (IOException missing) {
            throw Failure.noPhone(directory.toString());
        } catch (FormException malformed) {
            throw Failure.failed(file + " is not valid: " + malformed.getMessage());
        }
    }

    /** Installs the app in place of the one before. */
    void save(Path directory) throws Failure {
        Map<String, JsonValue> members = JsonValue.newMembers();
        members.put("serverUrl", JsonValue.of(serverUrl));
        members.put("bundleId", JsonValue.of(bundleId));
        members.put("platform", JsonValue.of(Settings.PLATFORM));
        members.put("version", JsonValue.of(version));
        members.put("build", JsonValue.of(build));
        members.put("configuration", textOrNull(configuration));
        members.put("fingerprint", textOrNull(fingerprint));
        members.put("entryFile", JsonValue.of(entryFile));
        members.put("trust", textOrNull(trust));
        members.put("installedAt", JsonValue.of(installedAt));
        Path file = directory.resolve("app.json");
        try {
            Files.createDirectories(directory);
            Files.write(file, Utf8.encode(JsonWriter.plain(JsonValue.object(members)) + "\n"));
        } catch (IOException failure) {
            throw Failure.failed("cannot write " + file + ": " + failure.getMessage());
        }
    }

    private static JsonValue textOrNull(String text) {
        return text == null ? JsonValue.NULL : JsonValue.of(text);
    }

    Settings settings() {
        Settings settings = new Settings(serverUrl, bundleId, version);
        settings.configuration = configuration;
        settings.fingerprint = fingerprint;
        settings.entryFile = entryFile;
        return settings;
    }

    UpdateTrust.Opener trust(Ports ports, Settings settings) {
        return trust == null
                ? UpdateTrust.WITHOUT_ROOT
                : SignedTrust.of(ports, settings, Utf8.encode(trust), installedAt);
    }

    /** A start of the app after a process that ended in this way. */
    Launch launch(Ending ending) {
        return new Launch(new Binary(build, version, installedAt), true, ending);
    }
}
