/** What is wrong with metadata (docs/reference/trust.md#refusals). */
package dev.launchway.core.trust;

public enum Reason {
    MALFORMED("malformed"),
    TOO_FEW_SIGNATURES("too-few-signatures"),
    OTHER_FILE("other-file"),
    OTHER_REPOSITORY_OR_APP("other-repository-or-app"),
    OTHER_VERSION("other-version"),
    ROLLBACK("rollback"),
    NAMES_ROLLBACK("names-rollback"),
    NO_LONGER_LISTS("no-longer-lists"),
    NOT_LISTED("not-listed"),
    BELOW_FLOOR("below-floor"),
    EXPIRED("expired"),
    MISSING("missing"),
    OTHER_PATHS("other-paths"),
    OTHER_CONTENT("other-content");

    private final String code;

    Reason(String code) {
        this.code = code;
    }

    /** The name of the reason in a client's log and report, the same in every language. */
    public String code() {
        return code;
    }
}
