/**
 * The folder of the client. Paths are relative, with slashes, and never climb; links are not followed. Every method throws
 * IOException if the storage fails.
 */
package dev.launchway.core.storage;

import java.io.Closeable;
import java.io.IOException;
import java.util.List;

public interface Storage {
    /** What a path names; null: nothing. */
    Entry entry(String path) throws IOException;

    /** The names in a folder; none when it is missing. */
    List<String> list(String path) throws IOException;

    /** Opens a file to read it. A missing one is an error. */
    Source open(String path) throws IOException;

    /** Creates a file and empties what was there. */
    Target create(String path) throws IOException;

    /** Opens a file to add to its end, and creates it if it is missing. */
    Target append(String path) throws IOException;

    /** Creates a folder, and its parents. One that exists is fine. */
    void makeFolder(String path) throws IOException;

    /** Renames a file and replaces what has the new name. */
    void rename(String from, String to) throws IOException;

    /** Removes a file. A missing one is fine. */
    void removeFile(String path) throws IOException;

    /** Removes an empty folder. A missing one is fine. */
    void removeFolder(String path) throws IOException;

    /** Returns when the names in a folder are on disk. */
    void syncFolder(String path) throws IOException;

    /** The number of bytes that can still be written. */
    long freeSpace() throws IOException;

    /** Takes the lock until it is closed or the process ends; null: another process has it. */
    Closeable lock() throws IOException;
}
