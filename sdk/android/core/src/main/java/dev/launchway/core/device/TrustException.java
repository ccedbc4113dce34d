/** Why no update is taken: its developers did not sign it, or nobody can tell. */
package dev.launchway.core.device;

import dev.launchway.core.trust.RefusalException;

public final class TrustException extends Exception {
    private static final long serialVersionUID = 1;

    /** What was refused and why; null if metadata was just out of reach. */
    private final RefusalException refusal;

    private TrustException(String message, RefusalException refusal) {
        super(message, refusal);
        this.refusal = refusal;
    }

    static TrustException outOfReach(String message) {
        return new TrustException(message, null);
    }

    static TrustException of(RefusalException refusal) {
        return new TrustException(refusal.code() + ": " + refusal.getMessage(), refusal);
    }

    /** What was refused and why; null if metadata was just out of reach. */
    public RefusalException refusal() {
        return refusal;
    }

    /** Whether nodes of the server that differ for a moment may be the cause. */
    boolean mayPass() {
        return refusal != null && refusal.mayPass();
    }
}
