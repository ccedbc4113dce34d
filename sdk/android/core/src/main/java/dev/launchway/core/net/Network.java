/** Reaches servers. */
package dev.launchway.core.net;

import java.io.IOException;

public interface Network {
    /**
     * Sends a request and returns as soon as the headers are there. Redirects are not followed. Silence ends with an error
     * after a timeout of the implementation's own, also while the body is read.
     *
     * @throws IOException the server cannot be reached
     */
    Response send(Request request) throws IOException;

    /** Whether the connection costs nothing by the byte, such as Wi-Fi. */
    boolean isUnmetered();
}
