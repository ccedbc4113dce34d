/** What the check's answer says about the update that it offers. The server wrote it: nothing of it is trusted. */
package dev.launchway.core.trust;

import dev.launchway.core.digest.Sha256;

public final class Offer {
    final Platform platform;
    final String version;
    final String buildNumber;
    final Sha256 sha256;
    final long length;

    /** The hash and length are those of the package. */
    public Offer(Platform platform, String version, String buildNumber, Sha256 sha256, long length) {
        this.platform = platform;
        this.version = version;
        this.buildNumber = buildNumber;
        this.sha256 = sha256;
        this.length = length;
    }
}
