/** The last update that was rolled back or could not be installed. */
package dev.launchway.core.storage;

import dev.launchway.core.digest.Sha256;

public final class FailedUpdate {
    /** The update's id. */
    public final String updateId;
    public final String version;
    public final String buildNumber;
    /** The digest of its package. */
    public final Sha256 sha256;
    /** A reason of the boot machine such as `crashed`, or the message of an error. */
    public final String reason;

    public FailedUpdate(String updateId, String version, String buildNumber, Sha256 sha256, String reason) {
        this.updateId = updateId;
        this.version = version;
        this.buildNumber = buildNumber;
        this.sha256 = sha256;
        this.reason = reason;
    }

    public static FailedUpdate of(SlotRecord slot, String reason) {
        return new FailedUpdate(slot.updateId, slot.version, slot.buildNumber, slot.id, reason);
    }
}
