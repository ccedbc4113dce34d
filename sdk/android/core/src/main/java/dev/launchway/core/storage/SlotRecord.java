/** What is remembered of an installed package. */
package dev.launchway.core.storage;

import dev.launchway.core.digest.Sha256;

public final class SlotRecord {
    /** The SHA-256 of its bytes, which names its folder. */
    public final Sha256 id;
    /** The update that brought it. */
    public final String updateId;
    public final String version;
    public final String buildNumber;
    /** The digest of its file list. */
    public final Sha256 manifest;

    public SlotRecord(Sha256 id, String updateId, String version, String buildNumber, Sha256 manifest) {
        this.id = id;
        this.updateId = updateId;
        this.version = version;
        this.buildNumber = buildNumber;
        this.manifest = manifest;
    }
}
