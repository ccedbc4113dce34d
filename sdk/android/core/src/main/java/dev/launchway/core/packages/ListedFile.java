/** One file of a list. */
package dev.launchway.core.packages;

import dev.launchway.core.digest.Sha256;

public final class ListedFile {
    /** The path, exactly as in the package. */
    public final String path;
    /** The number of bytes. */
    public final long size;
    /** The digest of the content. */
    public final Sha256 sha256;

    public ListedFile(String path, long size, Sha256 sha256) {
        this.path = path;
        this.size = size;
        this.sha256 = sha256;
    }

    @Override
    public boolean equals(Object other) {
        if (!(other instanceof ListedFile)) {
            return false;
        }
        ListedFile that = (ListedFile) other;
        return path.equals(that.path) && size == that.size && sha256.equals(that.sha256);
    }

    @Override
    public int hashCode() {
        return path.hashCode();
    }

    @Override
    public String toString() {
        return path + " (" + size + " bytes, " + sha256 + ")";
    }
}
