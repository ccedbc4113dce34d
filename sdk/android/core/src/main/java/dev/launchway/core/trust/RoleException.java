/** Metadata of one role is refused. What was trusted before stays trusted. */
package dev.launchway.core.trust;

public final class RoleException extends RefusalException {
    private static final long serialVersionUID = 1;

    private final String role;
    private final Reason reason;

    /** {@code fault} says what is wrong with the role. */
    RoleException(String role, Reason reason, String fault) {
        super(role + ": " + fault);
        this.role = role;
        this.reason = reason;
    }

    static RoleException missing(String role) {
        return new RoleException(role, Reason.MISSING, "is missing");
    }

    /** What the app carries cannot be read, so that nothing can be trusted. */
    public static RoleException unreadable(String file, String fault) {
        return new RoleException(file, Reason.MALFORMED, fault);
    }

    public String role() {
        return role;
    }

    public Reason reason() {
        return reason;
    }

    @Override
    public String code() {
        return reason.code();
    }

    @Override
    public boolean mayPass() {
        return reason == Reason.MISSING || reason == Reason.ROLLBACK || reason == Reason.NAMES_ROLLBACK;
    }
}
