/** Something is refused for a reason that a client logs and reports (docs/reference/trust.md#refusals). */
package dev.launchway.core.trust;

public abstract class RefusalException extends Exception {
    private static final long serialVersionUID = 1;

    RefusalException(String message) {
        super(message);
    }

    /** The name of the reason, the same in every language. */
    public abstract String code();

    /** Whether nodes of the server that differ for a moment may be the cause. */
    public abstract boolean mayPass();
}
