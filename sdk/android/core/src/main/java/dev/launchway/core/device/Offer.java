/** An update that the server offers. */
package dev.launchway.core.device;

import dev.launchway.core.digest.Sha256;

public final class Offer {
    /** The update's id. */
    public final String id;
    public final String version;
    public final String buildNumber;
    /** Where its package is, for a while. */
    public final String url;
    /** The digest of the package. */
    public final Sha256 sha256;
    /** The bytes of the package. */
    public final long size;
    /** The digest of its file list; null where the server does not know it. */
    public final Sha256 manifest;
    /** Whether to install it at once. */
    public final boolean mandatory;
    public final String releaseNotes;

    Offer(
            String id,
            String version,
            String buildNumber,
            String url,
            Sha256 sha256,
            long size,
            Sha256 manifest,
            boolean mandatory,
            String releaseNotes) {
        this.id = id;
        this.version = version;
        this.buildNumber = buildNumber;
        this.url = url;
        this.sha256 = sha256;
        this.size = size;
        this.manifest = manifest;
        this.mandatory = mandatory;
        this.releaseNotes = releaseNotes;
    }
}
