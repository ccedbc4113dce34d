/** The server's metadata of one app: in one trip, or file by file where the server does not answer that. */
package dev.launchway.core.device;

import dev.launchway.core.json.FormException;
import dev.launchway.core.net.Caches;
import dev.launchway.core.net.Network;
import dev.launchway.core.net.Request;
import dev.launchway.core.net.Response;
import dev.launchway.core.text.PercentEncoding;
import dev.launchway.core.trust.FileRequest;
import dev.launchway.core.trust.RefusalException;
import dev.launchway.core.trust.Refresh;
import dev.launchway.core.trust.TrustAnswer;
import dev.launchway.core.trust.TrustClient;
import java.io.IOException;

final class MetadataSource {
    private static final String API = "/api";

    /** Stores what is trusted by now. Its error ends the run. */
    interface Keeper {
        void keep(TrustClient client) throws IOException;
    }

    private final Network network;
    private final String configuration;
    private final Caches caches;
    /** The address of the metadata, with a slash at the end. */
    private final String base;

    MetadataSource(Network network, Settings settings, Caches caches) {
        this.network = network;
        this.configuration = settings.configuration;
        this.caches = caches;
        String api = settings.serverUrl;
        String host = api.endsWith(API) ? api.substring(0, api.length() - API.length()) : api;
        this.base = host + "/tuf/" + PercentEncoding.encode(settings.bundleId) + "/";
    }

    /** Renews the metadata of a client. */
    void renew(Refresh refresh, Keeper keeper) throws RefusalException, TrustException, IOException {
        for (TrustAnswer answer = answer(refresh.client()); answer != null; answer = answer(refresh.client())) {
            if (takeAnswer(refresh, answer, keeper)) {
                return;
            }
        }
        for (FileRequest request = refresh.nextRequest(); request != null; request = refresh.nextRequest()) {
            fetchFile(refresh, request, keeper);
        }
    }

    /** Takes what one answer holds, and fetches files that it lacks. Returns whether everything is current. */
    private boolean takeAnswer(Refresh refresh, TrustAnswer answer, Keeper keeper)
            throws RefusalException, TrustException, IOException {
        while (true) {
            Refresh.Progress progress;
            try {
                progress = refresh.takeAnswer(answer);
            } finally {
                keeper.keep(refresh.client());
            }
            if (progress != Refresh.Progress.LACKS_FILE) {
                return progress == Refresh.Progress.DONE;
            }
            fetchFile(refresh, refresh.nextRequest(), keeper);
        }
    }

    private void fetchFile(Refresh refresh, FileRequest request, Keeper keeper)
            throws RefusalException, TrustException, IOException {
        byte[] bytes = get(PercentEncoding.encode(request.fileName()), request.limit());
        if (bytes == null) {
            refresh.reportMissing();
        } else if (refresh.take(bytes)) {
            keeper.keep(refresh.client());
        }
    }

    /** Everything that is newer than what is trusted; null: the server does not answer that. */
    private TrustAnswer answer(TrustClient client) throws TrustException {
        String query = "trust?root=" + client.rootVersion() + "&snapshot=" + client.snapshotVersion();
        if (configuration != null) {
            query += "&configuration=" + PercentEncoding.encode(configuration);
        }
        byte[] bytes = get(query, TrustAnswer.MAX_BYTES);
        try {
            return bytes == null ? null : TrustAnswer.parse(bytes);
        } catch (FormException otherAnswer) {
            return null;
        }
    }

    /** The bytes of a file, up to one more than allowed; null if the server has none. */
    private byte[] get(String file, int limit) throws TrustException {
        try (Response response = network.send(Request.forJson(base + file, caches))) {
            if (response.status == 200) {
                return response.readBody(limit);
            } else if (response.status == 404) {
                return null;
            }
            String request = "the request for `" + file + "`";
            throw TrustException.outOfReach("the server responded with status " + response.status + " to " + request);
        } catch (IOException unreachable) {
            throw TrustException.outOfReach("cannot fetch metadata: " + unreachable.getMessage());
        }
    }
}
