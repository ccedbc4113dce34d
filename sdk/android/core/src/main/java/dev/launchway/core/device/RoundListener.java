/** Follows a round. It is called on the round's own thread. */
package dev.launchway.core.device;

import dev.launchway.core.net.PackageDownload;

public interface RoundListener extends PackageDownload.Progress {
    /** There is an update that may be installed. */
    void found(Offer offer);

    /** The package of the update was downloaded and installed. */
    void installed(Offer offer);

    /** For rounds whose course does not matter. */
    RoundListener NOBODY = new RoundListener() {
        @Override
        public void found(Offer offer) {}

        @Override
        public void arrived(long bytes) {}

        @Override
        public void installed(Offer offer) {}
    };
}
