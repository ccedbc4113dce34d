/** What the client reads of the binary and of the process that starts. */
package dev.launchway;

import android.app.ActivityManager;
import android.app.Application;
import android.os.Build;
import android.os.Bundle;
import dev.launchway.core.boot.Binary;
import dev.launchway.core.session.ErrorCode;
import dev.launchway.core.session.SessionException;
import dev.launchway.core.testing.Check;
import java.io.File;

public final class BinaryTest {
    public void eachDifferenceIsAnotherBinary() throws Exception {
        try (FakeApplication app = new FakeApplication()) {
            Check.equal(new Binary("7", "1.2.0", 1_795_255_200_000L), StoreBinary.of(app));
            app.installed.versionName = null;
            Check.equal(new Binary("7", "", 1_795_255_200_000L), StoreBinary.of(app));
        }
    }

    public void theVersionCodeIsTheLongOneWhereThereIsOne() throws Exception {
        try (FakeApplication app = new FakeApplication()) {
            app.installed.versionCodeMajor = 1;
            Check.equal("4294967303", StoreBinary.of(app).code);
            Build.VERSION.SDK_INT = 27;
            Check.equal("7", StoreBinary.of(app).code);
        }
    }

    public void withoutSettingsTheAppConfigures() throws Exception {
        try (FakeApplication app = new FakeApplication()) {
            Check.equal(null, new BinaryFiles(app).options().serverUrl);
            app.asset("launchway.json", "{\"serverUrl\":\"https://host/api\"}");
            Check.equal("https://host/api", new BinaryFiles(app).options().serverUrl);
        }
    }

    public void settingsThatCannotBeReadConfigureNothing() throws Exception {
        try (FakeApplication app = new FakeApplication()) {
            app.asset("launchway.json", "{\"keepSlots\":0}");
            Check.equal("launchway.json: keepSlots must be a whole number from 1 to 10", problem(app));
            app.asset("launchway.json", "{");
            Check.equal("launchway.json: is not JSON", problem(app));
            app.assets.files.put("launchway.json", null);
            Check.equal("cannot read launchway.json: damaged", problem(app));
        }
    }

    private static String problem(FakeApplication app) {
        try {
            new BinaryFiles(app).options();
        } catch (SessionException refused) {
            Check.equal(ErrorCode.NOT_CONFIGURED, refused.code);
            return refused.getMessage();
        }
        throw new AssertionError("read");
    }

    public void aTrustFileThatCannotBeReadIsNotMissing() throws Exception {
        try (FakeApplication app = new FakeApplication()) {
            Check.equal(null, new BinaryFiles(app).trustFile());
            app.asset("launchway.trust.json", "{}");
            Check.equal(2, new BinaryFiles(app).trustFile().length);
            app.assets.files.put("launchway.trust.json", null);
            Check.equal(0, new BinaryFiles(app).trustFile().length);
            app.assets.files.put("launchway.trust.json", new byte[2 << 20]);
            Check.equal(0, new BinaryFiles(app).trustFile().length, "too long");
        }
    }

    public void theFingerprintIsAString() throws Exception {
        try (FakeApplication app = new FakeApplication()) {
            Check.equal(null, new BinaryFiles(app).fingerprint());
            app.resources.strings.add("launchway_fingerprint");
            app.resources.strings.add("0123");
            Check.equal("0123", new BinaryFiles(app).fingerprint());
            app.resources.strings.set(1, "");
            Check.equal(null, new BinaryFiles(app).fingerprint(), "empty");
        }
    }

    public void theManifestOfAFrameworkNamesTheEntryFile() throws Exception {
        try (FakeApplication app = new FakeApplication()) {
            Check.equal("index.html", new BinaryFiles(app).entryFile());
            app.info.metaData = new Bundle();
            Check.equal("index.html", new BinaryFiles(app).entryFile());
            app.info.metaData.texts.put("dev.launchway.entryFile", "package.json");
            Check.equal("package.json", new BinaryFiles(app).entryFile());
        }
    }

    public void onlyTheAppsOwnProcessDecides() throws Exception {
        try (FakeApplication app = new FakeApplication()) {
            Check.that(AppProcess.isMain(app), "its own");
            Application.processName = "com.example.app:push";
            Check.that(!AppProcess.isMain(app), "another");
            app.info.processName = "com.example.app:push";
            Check.that(AppProcess.isMain(app), "named by the manifest");
            Application.processName = null;
            Check.that(AppProcess.isMain(app), "unknown");
        }
    }

    public void beforeAndroid9TheKernelKnowsTheName() throws Exception {
        try (FakeApplication app = new FakeApplication()) {
            Build.VERSION.SDK_INT = 27;
            Check.that(!AppProcess.isMain(app), "this one is called otherwise");
            String name = AppProcess.nameIn(new File("/proc/self/cmdline"));
            Check.that(name.endsWith("java"), name);
            Check.equal(null, AppProcess.nameIn(new File("/proc/self/missing")));
        }
    }

    public void aWindowIsShownOnlyInTheForeground() throws Exception {
        try (FakeApplication app = new FakeApplication()) {
            int[] others = {125, 130, 170, 200, 230, 300, 325, 350, 400, 500, 1000};
            Check.that(AppProcess.hasWindow(), "foreground");
            for (int importance : others) {
                ActivityManager.importance = importance;
                Check.that(!AppProcess.hasWindow(), "importance " + importance);
            }
            Check.equal("com.example.app", app.getPackageName());
        }
    }

    public void anUnknownNetworkMayCost() throws Exception {
        try (FakeApplication app = new FakeApplication()) {
            Check.that(ClientStart.isUnmetered(app), "free");
            app.connectivity.isMetered = true;
            Check.that(!ClientStart.isUnmetered(app), "it costs");
            app.connectivity.isForbidden = true;
            Check.that(!ClientStart.isUnmetered(app), "not permitted");
        }
    }
}
