/** How the operating system says that the previous process ended. */
package dev.launchway.core.boot;

public enum Ending {
    /** It does not say. */
    UNEXPLAINED("unexplained"),
    /** By an uncaught error. */
    CRASH("crash"),
    /** By a crash of native code. */
    NATIVE_CRASH("native_crash"),
    /** Because it did not respond. */
    NOT_RESPONDING("not_responding"),
    /** Because it could not be initialized. */
    INITIALIZATION_FAILURE("initialization_failure"),
    /** By anything else: the user, memory pressure, an update of the binary, its own exit. */
    EXPLAINED("explained");

    private final String code;

    Ending(String code) {
        this.code = code;
    }

    /** The name in vectors. */
    public String code() {
        return code;
    }

    boolean isCrash() {
        return this != UNEXPLAINED && this != EXPLAINED;
    }
}
