/** Flushes the names in a folder to disk, which Java alone cannot do: on Android, `android.system.Os` does. */
package dev.launchway.core.storage;

import java.io.File;
import java.io.IOException;

public interface FolderSync {
    void sync(File folder) throws IOException;
}
