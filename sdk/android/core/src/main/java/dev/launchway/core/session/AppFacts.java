/** What the binary says about itself. */
package dev.launchway.core.session;

import dev.launchway.core.boot.Binary;
import dev.launchway.core.device.Ports;
import dev.launchway.core.device.Settings;
import dev.launchway.core.device.SignedTrust;
import dev.launchway.core.device.UpdateTrust;

public final class AppFacts {
    private final Binary binary;
    private final String bundleId;
    private final String entryFile;
    private final String fingerprint;
    private final byte[] trustFile;

    /**
     * @param entryFile the file that the framework starts with
     * @param fingerprint null if the binary does not carry one
     * @param trustFile the bytes of `launchway.trust.json`; null if the binary does not carry it
     */
    public AppFacts(Binary binary, String bundleId, String entryFile, String fingerprint, byte[] trustFile) {
        this.binary = binary;
        this.bundleId = bundleId;
        this.entryFile = entryFile;
        this.fingerprint = fingerprint;
        this.trustFile = trustFile;
    }

    Binary binary() {
        return binary;
    }

    Settings settings(Options options) {
        String serverUrl = options.serverUrl == null ? "" : options.serverUrl;
        String id = options.bundleId == null ? bundleId : options.bundleId;
        Settings settings = new Settings(serverUrl, id, binary.name);
        settings.fingerprint = fingerprint;
        settings.configuration = options.configuration;
        settings.entryFile = options.entryFile == null ? entryFile : options.entryFile;
        settings.keepSlots = options.keepSlots;
        settings.wifiOnly = options.wifiOnly;
        return settings;
    }

    UpdateTrust.Opener trust(Ports ports, Options options) {
        if (trustFile == null) {
            return UpdateTrust.WITHOUT_ROOT;
        }
        long builtAt = options.builtAt == 0 ? binary.installedAt : options.builtAt;
        return SignedTrust.of(ports, settings(options), trustFile, builtAt);
    }
}
