/** Why no update is taken: its developers did not sign it, or nobody can tell. */
package dev.launchway.core.device;

public final class TrustException extends Exception {
    private static final long serialVersionUID = 1;

    /** Whether something was refused, and not just out of reach. */
    public final boolean isRefusal;
    /** Whether nodes that differ for a moment may be the cause. */
    public final boolean mayPass;

    public TrustException(String message, boolean isRefusal, boolean mayPass, Throwable cause) {
        super(message, cause);
        this.isRefusal = isRefusal;
        this.mayPass = mayPass;
    }
}
