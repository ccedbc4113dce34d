/** Asks the server for an update, and verifies that it may be installed (`docs/reference/sdk.md#trust`). */
package dev.launchway.core.device;

import dev.launchway.core.boot.Content;
import dev.launchway.core.net.Caches;
import dev.launchway.core.storage.State;
import dev.launchway.core.storage.StateFiles;
import java.io.IOException;

final class OfferFinder {
    /** The nodes of a server differ for a moment after a publication: how long to wait before asking again. */
    private static final long PAUSE_MS = 3_000;

    private final Setup setup;
    private final State state;
    private final Content running;

    OfferFinder(Setup setup, State state, Content running) {
        this.setup = setup;
        this.state = state;
        this.running = running;
    }

    /** An offer was refused, or is not one; the report names it. */
    private static final class RefusedOffer extends Exception {
        private static final long serialVersionUID = 1;

        private final transient Offer offer;
        private final transient SyncException error;
        private final boolean mayPass;

        private RefusedOffer(Offer offer, SyncException error, boolean mayPass) {
            this.offer = offer;
            this.error = error;
            this.mayPass = mayPass;
        }
    }

    /** What may be due to nodes that differ is asked once more, without caches. A refusal of an offer is reported. */
    Finding find() throws SyncException, IOException {
        try {
            return askAndVerify(Caches.USED);
        } catch (RefusedOffer refusal) {
            if (!refusal.mayPass) {
                throw reported(refusal);
            }
        }
        setup.ports.clock.pause(PAUSE_MS);
        try {
            return askAndVerify(Caches.BYPASSED);
        } catch (RefusedOffer refusal) {
            throw reported(refusal);
        }
    }

    private SyncException reported(RefusedOffer refusal) {
        setup.tryToReportFailure(state, refusal.offer, refusal.error.getMessage());
        return refusal.error;
    }

    /** Asks the server. */
    CheckAnswer ask(Caches caches) throws CheckException, IOException {
        Running content = setup.running(state, running);
        CheckAnswer answer =
                ServerCheck.ask(setup.ports.network, setup.settings, content, state.deviceId, caches);
        if (answer.token != null) {
            synchronized (setup.memory) {
                state.keepToken(answer.token);
                StateFiles.saveState(setup.ports.storage, state);
            }
        }
        return answer;
    }

    private Finding askAndVerify(Caches caches) throws RefusedOffer, SyncException, IOException {
        CheckAnswer answer = null;
        CheckException failure = null;
        try {
            answer = ask(caches);
        } catch (CheckException failed) {
            if (failed.kind == CheckException.Kind.NETWORK) {
                throw SyncException.check(failed);
            }
            failure = failed;
        }
        UpdateTrust trust = setup.trust.open(state.trust);
        // Revocations arrive in this way, so it is done whatever the check says.
        TrustException stale = refresh(trust, answer == null ? null : answer.announced, caches);
        if (failure != null) {
            throw SyncException.check(failure);
        }
        return verify(answer, trust, stale);
    }

    /** Returns why metadata is not up to date; null if it is. */
    private TrustException refresh(UpdateTrust trust, AnnouncedVersions announced, Caches caches) throws IOException {
        try {
            trust.refresh(state, announced, caches);
            return null;
        } catch (TrustException refusal) {
            return refusal;
        }
    }

    private Finding verify(CheckAnswer answer, UpdateTrust trust, TrustException stale)
            throws RefusedOffer, SyncException {
        Offer offer = answer.offer;
        if (offer == null) {
            if (answer.kind == CheckAnswer.Kind.NOTHING && stale != null) {
                throw SyncException.unverified(stale);
            }
            return Finding.nothing(answer);
        }
        Running content = setup.running(state, running);
        if (!content.isOlderThan(offer)) {
            // It is reported like one that nobody signed.
            throw new RefusedOffer(offer, SyncException.check(CheckException.notNewer(offer)), false);
        }
        if (state.boot.quarantine.contains(offer.sha256)) {
            return Finding.quarantined(answer);
        }
        try {
            if (stale != null) {
                throw stale;
            }
            return Finding.permitted(answer, trust.permit(offer, content));
        } catch (TrustException refusal) {
            SyncException error = SyncException.unverified(refusal);
            if (refusal.refusal() != null) {
                throw new RefusedOffer(offer, error, refusal.mayPass());
            }
            throw error;
        }
    }
}
