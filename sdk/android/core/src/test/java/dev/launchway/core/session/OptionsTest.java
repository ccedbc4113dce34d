/** What the settings of an app may say. */
package dev.launchway.core.session;

import dev.launchway.core.json.FormException;
import dev.launchway.core.testing.Check;
import dev.launchway.core.text.Utf8;

public final class OptionsTest {
    private static Options read(String json) throws FormException {
        return Options.read(Utf8.encode(json));
    }

    private static void refuse(String json, String message) {
        try {
            read(json);
        } catch (FormException refused) {
            Check.that(refused.getMessage().startsWith(message), json + ": " + refused.getMessage());
            return;
        }
        throw new AssertionError("read: " + json);
    }

    public void nothingSaidHasDefaults() throws Exception {
        Options options = read("{}");
        Check.equal(null, options.serverUrl);
        Check.equal(null, options.bundleId);
        Check.equal(null, options.configuration);
        Check.equal(Options.CheckOn.LAUNCH, options.checkOn);
        Check.equal(Options.Apply.NEXT_LAUNCH, options.apply);
        Check.equal(Options.ReadyMode.AUTO, options.readyMode);
        Check.equal(20_000L, options.readyTimeoutMs);
        Check.equal(false, options.wifiOnly);
        Check.equal(2, options.keepSlots);
        Check.equal(null, options.entryFile);
        Check.equal(0L, options.builtAt);
        Check.equal(20_000L, Options.defaults().readyTimeoutMs);
    }

    public void everythingCanBeSaid() throws Exception {
        Options options = read("{\"serverUrl\":\"https://updates.example.com/api\",\"bundleId\":\"com.example.app\","
                + "\"configuration\":\"production\",\"checkOn\":\"resume\",\"apply\":\"onBackground\","
                + "\"readyMode\":\"manual\",\"readyTimeoutMs\":1000,\"wifiOnly\":true,\"keepSlots\":10,"
                + "\"entryFile\":\"app/main.html\",\"builtAt\":1795255200000}");
        Check.equal("https://updates.example.com/api", options.serverUrl);
        Check.equal("com.example.app", options.bundleId);
        Check.equal("production", options.configuration);
        Check.equal(Options.CheckOn.RESUME, options.checkOn);
        Check.equal(Options.Apply.ON_BACKGROUND, options.apply);
        Check.equal(Options.ReadyMode.MANUAL, options.readyMode);
        Check.equal(1_000L, options.readyTimeoutMs);
        Check.equal(true, options.wifiOnly);
        Check.equal(10, options.keepSlots);
        Check.equal("app/main.html", options.entryFile);
        Check.equal(1_795_255_200_000L, options.builtAt);
        Check.equal(Options.Apply.IMMEDIATE, read("{\"apply\":\"immediate\"}").apply);
        Check.equal(Options.CheckOn.MANUAL, read("{\"checkOn\":\"manual\"}").checkOn);
    }

    public void namesOfANewerCommandLineAreIgnored() throws Exception {
        Check.equal("https://host/api", read("{\"serverUrl\":\"https://host/api\",\"later\":[1]}").serverUrl);
    }

    public void wrongValuesAreRefused() {
        String[][] table = {
            {"serverUrl", "1", "serverUrl must be a text"},
            {"serverUrl", "null", "serverUrl must be a text"},
            {"serverUrl", "\"\"", "serverUrl must be an address"},
            {"serverUrl", "\"host/api\"", "serverUrl must be an address"},
            {"serverUrl", "\"ftp://host/api\"", "serverUrl must be an address"},
            {"serverUrl", "\"https://\"", "serverUrl must be an address"},
            {"serverUrl", "\"https:///api\"", "serverUrl must be an address"},
            {"serverUrl", "\"https://host/a b\"", "serverUrl must be an address"},
            {"serverUrl", "\"https://host/api?x=1\"", "serverUrl must be an address"},
            {"serverUrl", "\"https://host/api#x\"", "serverUrl must be an address"},
            {"bundleId", "\"\"", "bundleId must be a bundle identifier"},
            {"bundleId", "\"com..app\"", "bundleId must be a bundle identifier"},
            {"bundleId", "\"com.example/app\"", "bundleId must be a bundle identifier"},
            {"bundleId", "\"com.ex\u00e4mple\"", "bundleId must be a bundle identifier"},
            {"configuration", "\"\"", "configuration must be 1 to 64 letters"},
            {"configuration", "\"a b\"", "configuration must be 1 to 64 letters"},
            {"checkOn", "\"Launch\"", "checkOn must be one of [launch, resume, manual]"},
            {"checkOn", "true", "checkOn must be a text"},
            {"apply", "\"now\"", "apply must be one of [nextLaunch, onBackground, immediate]"},
            {"readyMode", "\"never\"", "readyMode must be one of [auto, manual]"},
            {"readyTimeoutMs", "999", "readyTimeoutMs must be a whole number from 1000 to 600000"},
            {"readyTimeoutMs", "600001", "readyTimeoutMs must be a whole number from 1000 to 600000"},
            {"readyTimeoutMs", "\"20000\"", "readyTimeoutMs must be a whole number from 1000 to 600000"},
            {"wifiOnly", "1", "wifiOnly must be true or false"},
            {"keepSlots", "0", "keepSlots must be a whole number from 1 to 10"},
            {"keepSlots", "11", "keepSlots must be a whole number from 1 to 10"},
            {"entryFile", "\"\"", "entryFile must be the path of a file"},
            {"entryFile", "\"/index.html\"", "entryFile must be the path of a file"},
            {"entryFile", "\"../index.html\"", "entryFile must be the path of a file"},
            {"entryFile", "\"app/\"", "entryFile must be the path of a file"},
            {"builtAt", "-1", "builtAt must be a whole number"},
        };
        for (String[] row : table) {
            refuse("{\"" + row[0] + "\":" + row[1] + "}", row[2]);
        }
    }

    public void aFileThatIsNoneIsRefused() {
        refuse("", "is not JSON");
        refuse("[]", "is not an object");
        refuse("{\"keepSlots\":2,\"keepSlots\":3}", "has a name twice");
        refuse("{\"keepSlots\":2.0}", "has a number other");
    }

    public void configureReplacesWhatItNames() throws Exception {
        Options options = read("{\"serverUrl\":\"https://host/api\",\"keepSlots\":3}");
        Options changed = options.with(TestApp.read("{\"keepSlots\":4}"));
        Check.equal("https://host/api", changed.serverUrl);
        Check.equal(4, changed.keepSlots);
        Check.equal(3, options.keepSlots, "the old ones stay");
    }
}
