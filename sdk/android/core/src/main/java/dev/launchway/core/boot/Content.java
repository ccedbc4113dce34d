/** What an app can run: the files inside the store binary, or an installed package. */
package dev.launchway.core.boot;

import dev.launchway.core.digest.Sha256;

public final class Content {
    /** The files inside the store binary. */
    public static final Content EMBEDDED = new Content(null);

    private static final String EMBEDDED_NAME = "embedded";

    private final Sha256 slot;

    private Content(Sha256 slot) {
        this.slot = slot;
    }

    /** An installed package, named by the SHA-256 of its bytes. */
    public static Content of(Sha256 slot) {
        if (slot == null) {
            throw new IllegalArgumentException("an installed package has a digest");
        }
        return new Content(slot);
    }

    /** The content that the text names; null for any other text. */
    public static Content parse(String text) {
        if (text.equals(EMBEDDED_NAME)) {
            return EMBEDDED;
        }
        Sha256 slot = Sha256.parse(text);
        return slot == null ? null : of(slot);
    }

    /** The installed package; null for the embedded app. */
    public Sha256 slot() {
        return slot;
    }

    public boolean isEmbedded() {
        return slot == null;
    }

    @Override
    public boolean equals(Object other) {
        if (!(other instanceof Content)) {
            return false;
        }
        Sha256 that = ((Content) other).slot;
        return slot == null ? that == null : slot.equals(that);
    }

    @Override
    public int hashCode() {
        return slot == null ? 0 : slot.hashCode();
    }

    @Override
    public String toString() {
        return slot == null ? EMBEDDED_NAME : slot.toString();
    }
}
