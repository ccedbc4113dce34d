/** A server in memory that offers an update, and fails in chosen ways. */
package dev.launchway.core.testing;

import dev.launchway.core.json.JsonReader;
import dev.launchway.core.json.JsonValue;
import dev.launchway.core.json.JsonWriter;
import dev.launchway.core.net.Network;
import dev.launchway.core.net.Request;
import dev.launchway.core.net.Response;
import dev.launchway.core.text.Utf8;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

public final class FakeServer implements Network {
    /** Answers a request for a package in a way of its own. */
    public interface Trouble {
        Response send(Request request, byte[] whole) throws IOException;
    }

    private static final int MAX_BODY = 1 << 20;

    /** What is offered to apps that run an older build; null: nothing. */
    public Update offer;
    /** The bytes of the answer to checks, if it is not that of {@link #offer}. */
    public byte[] says;
    public boolean isAway;
    public boolean isMetered;
    /** The status of answers to checks and to reports. */
    public int checkStatus = 200;
    public int reportStatus = 200;
    /** How the next requests for a package are answered. */
    public final Deque<Trouble> troubles = new ArrayDeque<Trouble>();
    public final List<Request> requests = new ArrayList<Request>();
    /** The reports that were taken, as `type update reason`. */
    public final List<String> reports = new ArrayList<String>();

    public FakeServer() {}

    public FakeServer(Update offer) {
        this.offer = offer;
    }

    @Override
    public boolean isUnmetered() {
        return !isMetered;
    }

    /** The requests for packages. */
    public List<Request> downloads() {
        List<Request> found = new ArrayList<Request>();
        for (Request request : requests) {
            if (request.url.contains("/package")) {
                found.add(request);
            }
        }
        return found;
    }

    @Override
    public Response send(Request request) throws IOException {
        requests.add(request);
        if (isAway) {
            throw new IOException("connection refused");
        }
        if (request.url.contains("/update/check/")) {
            return answer(checkStatus, says == null ? check(request.url) : says);
        } else if (request.url.contains("/update/report/")) {
            if (reportStatus == 200) {
                take(request.body);
            }
            return answer(reportStatus, Utf8.encode("{}"));
        } else if (request.url.contains("/package")) {
            Trouble trouble = troubles.poll();
            return trouble == null ? whole(request, offer.bytes) : trouble.send(request, offer.bytes);
        }
        return answer(404, new byte[0]);
    }

    private byte[] check(String url) {
        int build = Integer.parseInt(url.replaceFirst(".*currentBuild=([0-9]+).*", "$1"));
        Map<String, JsonValue> answer = JsonValue.newMembers();
        if (offer != null && offer.build > build) {
            answer = offer.answer();
        } else {
            answer.put("updateAvailable", JsonValue.of(false));
            answer.put("message", JsonValue.of("No update available"));
            answer.put("reportToken", JsonValue.of("token"));
        }
        return Utf8.encode(JsonWriter.ascii(JsonValue.object(answer)));
    }

    private void take(String body) {
        try {
            for (JsonValue event : JsonReader.read(Utf8.encode(body), MAX_BODY).get("events").asArray()) {
                JsonValue reason = event.get("reason");
                String text = event.get("type").asText() + " " + event.get("updateId").asText();
                reports.add(reason == null ? text : text + " " + reason.asText());
            }
        } catch (Exception malformed) {
            throw new AssertionError("a client sent " + body, malformed);
        }
    }

    /** The answer of a server that works: the whole, or the range that was asked for. */
    public static Response whole(Request request, byte[] whole) {
        String etag = etag(whole);
        String range = request.headers.get("range");
        if (range == null || !etag.equals(request.headers.get("if-range"))) {
            return answer(200, whole, "ETag", etag);
        }
        int from = Integer.parseInt(range.substring("bytes=".length(), range.length() - 1));
        return from >= whole.length ? answer(416, new byte[0]) : part(whole, from, from);
    }

    /** A partial answer whose body begins at {@code from}, and that says that it begins at {@code named}. */
    public static Response part(byte[] whole, int from, int named) {
        String range = "bytes " + named + "-" + (whole.length - 1) + "/" + whole.length;
        byte[] rest = Arrays.copyOfRange(whole, from, whole.length);
        return answer(206, rest, "ETag", etag(whole), "Content-Range", range);
    }

    public static String etag(byte[] whole) {
        return "\"" + Arrays.hashCode(whole) + "\"";
    }

    public static Response answer(int status, byte[] body, String... headers) {
        return answer(status, new ByteArrayInputStream(body), headers);
    }

    /** {@code headers} are names and values in turn. */
    public static Response answer(int status, InputStream body, String... headers) {
        Map<String, List<String>> fields = new TreeMap<String, List<String>>();
        for (int at = 0; at < headers.length; at += 2) {
            fields.put(headers[at], Collections.singletonList(headers[at + 1]));
        }
        return new Response(status, fields, body);
    }

    /** A trouble: the connection breaks after so many bytes of the body. */
    public static Trouble breaksAfter(final int count) {
        return new Trouble() {
            @Override
            public Response send(Request request, byte[] whole) throws IOException {
                Response answer = whole(request, whole);
                return answer(answer.status, new BrokenStream(answer.body, count), headers(answer));
            }
        };
    }

    private static String[] headers(Response answer) {
        String range = answer.header("content-range");
        String etag = answer.header("etag");
        return range == null
                ? new String[] {"ETag", etag}
                : new String[] {"ETag", etag, "Content-Range", range};
    }
}
