/** A server that responds as recorded in `sdk/vectors/signed-rounds.json`, to the recorded requests only. */
package dev.launchway.core.device;

import dev.launchway.core.json.JsonReader;
import dev.launchway.core.json.JsonValue;
import dev.launchway.core.net.Network;
import dev.launchway.core.net.Request;
import dev.launchway.core.net.Response;
import dev.launchway.core.testing.Check;
import dev.launchway.core.text.Hex;
import dev.launchway.core.text.Utf8;
import java.io.ByteArrayInputStream;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

final class RecordedServer implements Network {
    private final Iterator<JsonValue> exchanges;
    private final List<JsonValue> bodies;

    RecordedServer(List<JsonValue> exchanges, List<JsonValue> bodies) {
        this.exchanges = exchanges.iterator();
        this.bodies = bodies;
    }

    @Override
    public Response send(Request request) {
        Check.that(exchanges.hasNext(), "no further request, but one for " + request.url);
        JsonValue exchange = exchanges.next();
        Check.equal(exchange.get("url").asText(), request.url);
        boolean noCache = exchange.get("noCache") != null;
        Check.equal(noCache, request.headers.containsKey("cache-control"), request.url);
        Check.equal(exchange.get("sends"), sent(request), request.url);
        Map<String, List<String>> headers = new TreeMap<String, List<String>>();
        if (exchange.get("etag") != null) {
            headers.put("ETag", Collections.singletonList(exchange.get("etag").asText()));
        }
        JsonValue body = bodies.get(exchange.get("body").asInteger().intValue());
        byte[] bytes = body.asText() == null ? Hex.decode(body.get("hex").asText()) : Utf8.encode(body.asText());
        int status = exchange.get("status").asInteger().intValue();
        return new Response(status, headers, new ByteArrayInputStream(bytes));
    }

    private static JsonValue sent(Request request) {
        try {
            return request.body == null ? null : JsonReader.read(Utf8.encode(request.body), 1 << 20);
        } catch (Exception notJson) {
            throw new AssertionError(request.body);
        }
    }

    @Override
    public boolean isUnmetered() {
        return true;
    }

    void expectNoneLeft(String about) {
        Check.that(!exchanges.hasNext(), about + ": too few requests");
    }
}
