/** A text or JSON value is not of the expected form. */
package dev.launchway.core.json;

public class FormException extends Exception {
    private static final long serialVersionUID = 1;

    public FormException(String message) {
        super(message);
    }

    /** A field is missing or not of its form. */
    public static FormException ofField(String field) {
        return new FormException("has no valid `" + field + "`");
    }
}
