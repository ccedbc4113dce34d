/** Why a package gave way or could not be used. */
package dev.launchway.core.boot;

public enum Reason {
    CRASHED("crashed"),
    /** It was not confirmed in time. */
    HUNG("hung"),
    /** It died twice in the foreground without explanation. */
    DIED_TWICE("died_twice"),
    /** It crashed early three times in a row after it was confirmed. */
    CRASH_LOOP("crash_loop"),
    /** Its developers revoked it. */
    REVOKED("revoked"),
    /** Its installation was not completed. */
    INCOMPLETE("incomplete"),
    /** The file that the app starts with is missing. */
    NO_ENTRY_FILE("no_entry_file"),
    /** A file does not have its hash. */
    DAMAGED("damaged");

    private final String code;

    Reason(String code) {
        this.code = code;
    }

    /** The name in vectors and reports. */
    public String code() {
        return code;
    }
}
