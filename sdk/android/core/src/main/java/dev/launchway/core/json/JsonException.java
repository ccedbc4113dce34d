/** A text is not the JSON that is accepted here. */
package dev.launchway.core.json;

public final class JsonException extends FormException {
    private static final long serialVersionUID = 1;

    /** Why a text is refused. */
    public enum Reason {
        TOO_LARGE("too-large", "is too long"),
        ENCODING("encoding", "is not UTF-8"),
        SYNTAX("syntax", "is not JSON"),
        DEPTH("depth", "nests too deep"),
        DUPLICATE_NAME("duplicate-name", "has a name twice"),
        NUMBER("number", "has a number other than an integer below 2^53"),
        SURROGATE("surrogate", "has half of a surrogate pair");

        private final String code;
        private final String message;

        Reason(String code, String message) {
            this.code = code;
            this.message = message;
        }

        /** The name of the reason in the vectors. */
        public String code() {
            return code;
        }
    }

    private final Reason reason;

    JsonException(Reason reason) {
        super(reason.message);
        this.reason = reason;
    }

    public Reason reason() {
        return reason;
    }
}
