/** A request to a server. */
package dev.launchway.core.net;

import java.util.LinkedHashMap;
import java.util.Map;

public final class Request {
    /** The whole address. */
    public final String url;
    /** Header fields, names in lower case. */
    public final Map<String, String> headers = new LinkedHashMap<String, String>();
    /** The JSON body of a POST; null is a GET. */
    public final String body;

    private Request(String url, String body) {
        this.url = url;
        this.body = body;
    }

    /** A request for bytes as they are. */
    public static Request forBytes(String url) {
        Request request = new Request(url, null);
        request.headers.put("accept-encoding", "identity");
        return request;
    }

    public static Request forJson(String url, Caches caches) {
        Request request = forBytes(url);
        request.headers.put("accept", "application/json");
        if (caches == Caches.BYPASSED) {
            request.headers.put("cache-control", "no-cache");
        }
        return request;
    }

    public static Request post(String url, String json) {
        Request request = new Request(url, json);
        request.headers.put("content-type", "application/json");
        return request;
    }
}
