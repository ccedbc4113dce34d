/** A network on which one exchange fails, or all from one on, before the answer or in the middle of it. */
package dev.launchway.core.device;

import dev.launchway.core.net.Network;
import dev.launchway.core.net.Request;
import dev.launchway.core.net.Response;
import dev.launchway.core.testing.BrokenStream;
import java.io.IOException;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

final class FaultyNetwork implements Network {
    private final Network server;
    private final int faultyCall;
    private final boolean isForEver;
    /** So many bytes of a body arrive; less than none: there is no answer. */
    private final int bytes;
    int calls;

    FaultyNetwork(Network server, int faultyCall, boolean isForEver, int bytes) {
        this.server = server;
        this.faultyCall = faultyCall;
        this.isForEver = isForEver;
        this.bytes = bytes;
    }

    @Override
    public Response send(Request request) throws IOException {
        calls++;
        boolean isFaulty = calls == faultyCall || (isForEver && calls > faultyCall);
        if (!isFaulty) {
            return server.send(request);
        }
        if (bytes < 0) {
            throw new IOException("connection refused");
        }
        Response whole = server.send(request);
        Map<String, List<String>> headers = new TreeMap<String, List<String>>();
        for (String name : new String[] {"etag", "content-range"}) {
            if (whole.header(name) != null) {
                headers.put(name, Collections.singletonList(whole.header(name)));
            }
        }
        return new Response(whole.status, headers, new BrokenStream(whole.body, bytes));
    }

    @Override
    public boolean isUnmetered() {
        return server.isUnmetered();
    }
}
