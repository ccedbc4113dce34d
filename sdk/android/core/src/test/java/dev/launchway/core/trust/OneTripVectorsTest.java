/** The metadata of `sdk/vectors/signed-rounds.json` is asked for and taken, in one trip and file by file, as it says. */
package dev.launchway.core.trust;

import dev.launchway.core.json.JsonValue;
import dev.launchway.core.testing.Check;
import dev.launchway.core.testing.Vectors;
import dev.launchway.core.text.Utf8;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

public final class OneTripVectorsTest {
    private static final String BASE = "https://host/tuf/com.example.app/";

    public void metadataIsRenewedAsTheRoundsSay() throws Exception {
        JsonValue vectors = Vectors.read("signed-rounds.json");
        List<JsonValue> bodies = vectors.get("bodies").asArray();
        Check.that(vectors.get("traces").asArray().size() >= 20, "the vectors are complete");
        for (JsonValue trace : vectors.get("traces").asArray()) {
            TrustFile embedded = TrustFile.parse(Utf8.encode(trace.get("trustFile").asText()));
            long builtAt = trace.get("builtAt").asInteger();
            StoredTrust stored = null;
            for (JsonValue step : trace.get("steps").asArray()) {
                TrustClient client = TrustClient.open(embedded, "com.example.app", "production", stored);
                Deque<JsonValue> exchanges = exchanges(step);
                long now = TrustClient.now(step.get("now").asInteger(), builtAt);
                String outcome = "accepted";
                while (!exchanges.isEmpty()) {
                    outcome = renew(client.refresh(now), exchanges, bodies);
                }
                String expected = step.get("expect").asText();
                if (expected.matches("refused [a-z-]+ [a-z-]+( after a pause)?") && !expected.contains("not-signed")) {
                    Check.that(expected.startsWith("refused " + outcome), trace.get("name") + ": " + outcome);
                } else {
                    Check.equal("accepted", outcome, trace.get("name").asText());
                }
                stored = StoredTrust.parse(client.storedTrust().toJson());
            }
        }
    }

    private static Deque<JsonValue> exchanges(JsonValue step) {
        Deque<JsonValue> exchanges = new ArrayDeque<JsonValue>();
        if (step.get("http") != null) {
            for (JsonValue exchange : step.get("http").asArray()) {
                if (exchange.get("url").asText().startsWith(BASE)) {
                    exchanges.add(exchange);
                }
            }
        }
        return exchanges;
    }

    private static String renew(Refresh refresh, Deque<JsonValue> exchanges, List<JsonValue> bodies) throws Exception {
        TrustClient client = refresh.client();
        String query = "trust?root=" + client.rootVersion() + "&snapshot=" + client.snapshotVersion();
        byte[] body = response(exchanges, query + "&configuration=production", bodies);
        TrustAnswer answer = TrustAnswer.parse(body);
        try {
            while (refresh.takeAnswer(answer) == Refresh.Progress.LACKS_FILE) {
                refresh.take(response(exchanges, refresh.nextRequest().fileName(), bodies));
            }
            return "accepted";
        } catch (RoleException refused) {
            return refused.role() + " " + refused.code();
        }
    }

    /** The recorded response to the request that comes next, which must be this one. */
    private static byte[] response(Deque<JsonValue> exchanges, String name, List<JsonValue> bodies) {
        JsonValue exchange = exchanges.remove();
        Check.equal(BASE + name, exchange.get("url").asText());
        Check.equal(200L, exchange.get("status").asInteger());
        return Utf8.encode(bodies.get(exchange.get("body").asInteger().intValue()).asText());
    }
}
