/** What is remembered of signed updates. */
package dev.launchway.core.storage;

public final class TrustRecord {
    /** When metadata was last up to date, in milliseconds since 1970. */
    public final long refreshedAt;
    /** The bytes of trusted metadata and the floors of roles, as JSON. */
    public final String stored;

    public TrustRecord(long refreshedAt, String stored) {
        this.refreshedAt = refreshedAt;
        this.stored = stored;
    }
}
