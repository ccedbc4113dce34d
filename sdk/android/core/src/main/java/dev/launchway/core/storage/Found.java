/** What is found of a state file: nothing, something that cannot be understood, or its content. */
package dev.launchway.core.storage;

public final class Found<T> {
    private final T content;
    private final boolean corrupt;

    private Found(T content, boolean corrupt) {
        this.content = content;
        this.corrupt = corrupt;
    }

    static <T> Found<T> nothing() {
        return new Found<T>(null, false);
    }

    static <T> Found<T> corrupt() {
        return new Found<T>(null, true);
    }

    public static <T> Found<T> whole(T content) {
        return new Found<T>(content, false);
    }

    /** The content; null if there is none, or none that can be understood. */
    public T content() {
        return content;
    }

    public boolean isCorrupt() {
        return corrupt;
    }
}
