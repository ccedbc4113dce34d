/** A path names something that is too long or no file, so that it cannot be what was written there. */
package dev.launchway.core.storage;

import java.io.IOException;

public final class UnsuitableFileException extends IOException {
    private static final long serialVersionUID = 1;

    public UnsuitableFileException(String path) {
        super("`" + path + "` is too long, or not a file");
    }
}
