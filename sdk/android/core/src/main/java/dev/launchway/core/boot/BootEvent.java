/** Something that a start or a confirmation has to report. */
package dev.launchway.core.boot;

public final class BootEvent {
    public enum Kind {
        /** A package was handed over for the first time. */
        INSTALLED("installed"),
        /** A package proved itself. */
        CONFIRMED("confirmed"),
        /** A package had to give way. */
        ROLLED_BACK("rolled_back"),
        /** A package could not be used. */
        FAILED("failed"),
        /** Content crashed. */
        CRASH("crash");

        private final String code;

        Kind(String code) {
            this.code = code;
        }

        /** The name in vectors and reports. */
        public String code() {
            return code;
        }
    }

    public final Kind kind;
    /** The content that the event is about. */
    public final Content content;
    /** Why it happened; null where nothing needs an explanation. */
    public final Reason reason;

    public BootEvent(Kind kind, Content content, Reason reason) {
        this.kind = kind;
        this.content = content;
        this.reason = reason;
    }
}
