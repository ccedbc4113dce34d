/** A download that is retried after failures: how long to wait, how often, and when to ask for another address. */
package dev.launchway.core.device;

import dev.launchway.core.net.Caches;
import dev.launchway.core.net.DownloadException;
import dev.launchway.core.net.PackageDownload;
import dev.launchway.core.storage.State;
import java.io.IOException;

final class RetriedDownload implements PackageDownload.Progress {
    /** How often a download is tried without a byte of progress. */
    private static final int MAX_TRIES = 4;
    /** How often a download with wrong bytes is tried. */
    private static final int MAX_WRONG_TRIES = 2;
    /** How often an expired address is replaced in one round. */
    private static final int MAX_ADDRESSES = 3;

    private final Setup setup;
    private final State state;
    private final OfferFinder finder;
    private final Offer offer;
    private final PackageDownload.Progress progress;
    private String url;
    private int tries;
    private int addresses = 1;
    /** The most bytes that were there, and whether the last try went beyond. */
    private long most;
    private boolean advanced;

    RetriedDownload(Setup setup, State state, OfferFinder finder, Offer offer, PackageDownload.Progress progress) {
        this.setup = setup;
        this.state = state;
        this.finder = finder;
        this.offer = offer;
        this.progress = progress;
        this.url = offer.url;
    }

    @Override
    public void arrived(long bytes) {
        advanced |= bytes > most;
        most = Math.max(most, bytes);
        progress.arrived(bytes);
    }

    /** Downloads the package and returns the path of its file. */
    String run() throws SyncException, IOException {
        PackageDownload download =
                new PackageDownload(setup.ports.storage, setup.ports.network, offer.sha256, offer.size);
        while (true) {
            advanced = false;
            try {
                return download.run(url, this);
            } catch (DownloadException failure) {
                tries = advanced ? 1 : tries + 1;
                prepareRetry(failure);
            }
        }
    }

    /** Returns when the next try may begin; throws if there is none. */
    private void prepareRetry(DownloadException failure) throws SyncException, IOException {
        SyncException error = SyncException.download(failure);
        switch (failure.kind) {
            case EXPIRED:
                if (addresses == MAX_ADDRESSES) {
                    throw error;
                }
                addresses++;
                replaceAddress(error);
                return;
            case NETWORK:
                break;
            case STATUS:
                if (failure.status != 429 && failure.status < 500) {
                    throw error;
                }
                break;
            default:
                if (failure.kind == DownloadException.Kind.NO_SPACE || tries >= MAX_WRONG_TRIES) {
                    setup.tryToReportFailure(state, offer, error.getMessage());
                    throw error;
                }
        }
        if (tries >= MAX_TRIES) {
            throw error;
        }
        pause();
    }

    private void replaceAddress(SyncException expired) throws SyncException, IOException {
        try {
            Offer fresh = finder.ask(Caches.USED).offer;
            if (fresh == null || !fresh.sha256.equals(offer.sha256)) {
                // There is something else to install by now; the next round does.
                throw expired;
            }
            url = fresh.url;
        } catch (CheckException failure) {
            throw SyncException.check(failure);
        }
    }

    /** 1, 4 and 16 seconds, and up to half of that again, so that phones do not come back at once together. */
    private void pause() {
        long pause = 1000L << Math.min(2 * (tries - 1), 8);
        byte[] random = setup.ports.random.next(2);
        int share = (random[0] & 0xff) | (random[1] & 0xff) << 8;
        setup.ports.clock.pause(pause + pause * share / (2 << 16));
    }
}
