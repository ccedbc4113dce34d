/** The suite's server: files below an address. */
package dev.launchway.core.trust;

import dev.launchway.core.net.Caches;
import dev.launchway.core.net.HttpNetwork;
import dev.launchway.core.net.Request;
import dev.launchway.core.net.Response;
import java.io.IOException;

final class ConformanceServer {
    private static final HttpNetwork NETWORK = new HttpNetwork(new HttpNetwork.Metering() {
        @Override
        public boolean isUnmetered() {
            return true;
        }
    });

    private final String base;

    ConformanceServer(String base) {
        this.base = base.endsWith("/") ? base : base + "/";
    }

    /** A file of at most {@code limit} bytes; null: the server does not have it. */
    byte[] get(String path, int limit) throws IOException {
        try (Response response = NETWORK.send(Request.forJson(base + path, Caches.USED))) {
            if (response.status == 403 || response.status == 404) {
                return null;
            }
            byte[] bytes = response.readBody(limit);
            if (response.status != 200 || bytes.length > limit) {
                throw new IOException(path + ": status " + response.status + ", " + bytes.length + " bytes");
            }
            return bytes;
        }
    }
}
