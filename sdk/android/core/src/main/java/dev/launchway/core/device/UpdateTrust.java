/** Decides which packages may be installed and started (`docs/reference/sdk.md#trust`). */
package dev.launchway.core.device;

import dev.launchway.core.digest.Sha256;
import dev.launchway.core.net.Caches;
import dev.launchway.core.storage.State;
import dev.launchway.core.storage.TrustRecord;
import java.io.IOException;

public interface UpdateTrust {
    /** Opens what the app carries and what this device has stored; {@code record} is null before the first fetch. */
    interface Opener {
        UpdateTrust open(TrustRecord record);
    }

    /** Whether a package is never started, whatever the network or the clock says. */
    boolean isRevoked(Sha256 slot);

    /**
     * Fetches metadata if that is due. What is learned is stored in {@code state} step by step, so that a later lie of the
     * server is noticed.
     *
     * @param announced what the server says that it has; null if it does not
     * @throws IOException the storage failed
     */
    void refresh(State state, AnnouncedVersions announced, Caches caches) throws TrustException, IOException;

    /** The digest that the offer's file list must have, or null if none is known, if the offer may be installed. */
    Sha256 permit(Offer offer, Running running) throws TrustException;

    /** The trust of an app without a root: the server's word counts. */
    UpdateTrust IN_THE_SERVER = new UpdateTrust() {
        @Override
        public boolean isRevoked(Sha256 slot) {
            return false;
        }

        @Override
        public void refresh(State state, AnnouncedVersions announced, Caches caches) {}

        @Override
        public Sha256 permit(Offer offer, Running running) {
            return offer.manifest;
        }
    };

    /** Opens the trust of an app without a root. */
    Opener WITHOUT_ROOT = new Opener() {
        @Override
        public UpdateTrust open(TrustRecord record) {
            return IN_THE_SERVER;
        }
    };
}
