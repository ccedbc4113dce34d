/** The trust of an app that carries a root: only what its developers signed is installed, whatever the server says. */
package dev.launchway.core.device;

import dev.launchway.core.digest.Sha256;
import dev.launchway.core.json.FormException;
import dev.launchway.core.net.Caches;
import dev.launchway.core.storage.State;
import dev.launchway.core.storage.StateFiles;
import dev.launchway.core.storage.TrustRecord;
import dev.launchway.core.trust.OfferException;
import dev.launchway.core.trust.Platform;
import dev.launchway.core.trust.RefusalException;
import dev.launchway.core.trust.RoleException;
import dev.launchway.core.trust.RunningApp;
import dev.launchway.core.trust.StoredTrust;
import dev.launchway.core.trust.TrustClient;
import dev.launchway.core.trust.TrustFile;
import dev.launchway.core.trust.UpdateRole;
import dev.launchway.core.versions.Version;
import java.io.IOException;

public final class SignedTrust implements UpdateTrust {
    private static final String TRUST_FILE = "launchway.trust.json";

    private final Ports ports;
    private final Settings settings;
    private final long builtAt;
    /** Null if what the app carries is not valid: then nothing is taken. */
    private final TrustClient client;
    /** Why there is no client; null if there is one. */
    private final RoleException invalidRoot;

    private SignedTrust(Ports ports, Settings settings, byte[] trustFile, long builtAt, TrustRecord record) {
        this.ports = ports;
        this.settings = settings;
        this.builtAt = builtAt;
        TrustClient opened = null;
        RoleException invalid = null;
        try {
            opened = open(settings, trustFile, record);
        } catch (RoleException refusal) {
            invalid = refusal;
        }
        this.client = opened;
        this.invalidRoot = invalid;
    }

    /**
     * Opens the trust of an app that carries the bytes of {@code trustFile} and was built at {@code builtAt}, in milliseconds
     * since 1970. An app whose trust file cannot be read takes and starts nothing.
     */
    public static Opener of(final Ports ports, final Settings settings, final byte[] trustFile, final long builtAt) {
        return new Opener() {
            @Override
            public UpdateTrust open(TrustRecord record) {
                return new SignedTrust(ports, settings, trustFile, builtAt, record);
            }
        };
    }

    private static TrustClient open(Settings settings, byte[] trustFile, TrustRecord record) throws RoleException {
        TrustFile embedded;
        try {
            embedded = TrustFile.parse(trustFile);
        } catch (FormException unreadable) {
            throw RoleException.unreadable(TRUST_FILE, unreadable.getMessage());
        }
        String configuration = settings.configuration;
        if (configuration != null && !UpdateRole.isConfiguration(configuration)) {
            throw RoleException.unreadable("configuration", "is not the name of a configuration");
        }
        return TrustClient.open(embedded, settings.bundleId, configuration, stored(record));
    }

    /** What cannot be read is as if it were missing. */
    private static StoredTrust stored(TrustRecord record) {
        try {
            return record == null ? null : StoredTrust.parse(record.stored);
        } catch (FormException unreadable) {
            return null;
        }
    }

    @Override
    public boolean isRevoked(Sha256 slot) {
        // Without a valid root there is no way to know: the embedded app runs.
        return client == null || client.revokedPackages().contains(slot);
    }

    @Override
    public void refresh(final State state, AnnouncedVersions announced, Caches caches)
            throws TrustException, IOException {
        if (client == null) {
            throw TrustException.of(invalidRoot);
        }
        long now = now();
        long root = announced == null ? 0 : announced.root;
        long snapshot = announced == null ? 0 : announced.snapshot;
        final long refreshedAt = state.trust == null ? 0 : state.trust.refreshedAt;
        if (!client.isBehind(root, snapshot, refreshedAt, now) && caches == Caches.USED) {
            return;
        }
        // A run that is refused in the end may have learned floors.
        long keptAt = refreshedAt;
        try {
            MetadataSource.Keeper keeper = new MetadataSource.Keeper() {
                @Override
                public void keep(TrustClient renewed) throws IOException {
                    SignedTrust.this.keep(state, refreshedAt);
                }
            };
            new MetadataSource(ports.network, settings, caches).renew(client.refresh(now), keeper);
            keptAt = now;
        } catch (RefusalException refusal) {
            throw TrustException.of(refusal);
        } finally {
            keep(state, keptAt);
        }
    }

    /** Stores what the client trusts, if that is new. */
    private void keep(State state, long refreshedAt) throws IOException {
        String stored = client.storedTrust().toJson();
        TrustRecord known = state.trust;
        if (known == null || known.refreshedAt != refreshedAt || !known.stored.equals(stored)) {
            state.trust = new TrustRecord(refreshedAt, stored);
            StateFiles.saveState(ports.storage, state);
        }
    }

    @Override
    public Sha256 permit(Offer offer, Running running) throws TrustException {
        if (client == null) {
            throw TrustException.of(invalidRoot);
        }
        Version version = Version.parse(running.version);
        if (version == null) {
            // Nothing is newer than a version that cannot be compared.
            throw TrustException.of(new OfferException(OfferException.Fault.NOT_NEWER));
        }
        RunningApp app = new RunningApp(Platform.ANDROID, settings.fingerprint, version, running.build);
        dev.launchway.core.trust.Offer offered = new dev.launchway.core.trust.Offer(
                Platform.ANDROID, offer.version, offer.buildNumber, offer.sha256, offer.size);
        try {
            return client.accept(offered, app, now()).manifest;
        } catch (RefusalException refusal) {
            throw TrustException.of(refusal);
        }
    }

    private long now() {
        return TrustClient.now(ports.clock.now(), builtAt);
    }
}
