/** A top-level role. */
package dev.launchway.core.trust.metadata;

public enum TopLevel {
    ROOT("root"),
    TIMESTAMP("timestamp"),
    SNAPSHOT("snapshot"),
    TARGETS("targets");

    private final String title;

    TopLevel(String title) {
        this.title = title;
    }

    /** The name in metadata. */
    public String title() {
        return title;
    }
}
