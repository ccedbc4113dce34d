/** Rounds of an app with a root are, request by request, those of the shared vectors. */
package dev.launchway.core.device;

import dev.launchway.core.boot.Ending;
import dev.launchway.core.json.JsonValue;
import dev.launchway.core.testing.Check;
import dev.launchway.core.testing.Phone;
import dev.launchway.core.testing.Vectors;
import dev.launchway.core.text.Utf8;
import dev.launchway.core.trust.RefusalException;
import dev.launchway.core.trust.RoleException;
import java.util.Collections;
import java.util.List;
import java.util.Locale;

public final class SignedRoundsTest {
    public void everyRoundIsAsRecorded() throws Exception {
        JsonValue vectors = Vectors.read("signed-rounds.json");
        List<JsonValue> traces = vectors.get("traces").asArray();
        Check.that(traces.size() >= 20, "the vectors are complete");
        for (JsonValue trace : traces) {
            replay(new Phone(), trace, vectors.get("bodies").asArray());
        }
    }

    private static void replay(Phone phone, JsonValue trace, List<JsonValue> bodies) throws Exception {
        phone.trustFile = Utf8.encode(trace.get("trustFile").asText());
        phone.builtAt = trace.get("builtAt").asInteger();
        phone.clock.now = phone.builtAt;
        try (Device device = phone.process(new RecordedServer(Collections.<JsonValue>emptyList(), bodies))) {
            device.start(Phone.launch(Ending.EXPLAINED));
        }
        int number = 0;
        for (JsonValue step : trace.get("steps").asArray()) {
            String about = trace.get("name").asText() + ", step " + number++;
            phone.clock.now = step.get("now").asInteger();
            phone.clock.pauses.clear();
            boolean isSync = step.get("do").asText().equals("sync");
            List<JsonValue> exchanges =
                    isSync ? step.get("http").asArray() : Collections.<JsonValue>emptyList();
            RecordedServer server = new RecordedServer(exchanges, bodies);
            try (Device device = phone.process(server)) {
                String outcome = isSync ? sync(device) : start(device);
                String pause = phone.clock.pauses.isEmpty() ? "" : " after a pause";
                Check.equal(step.get("expect").asText(), outcome + pause, about);
            }
            server.expectNoneLeft(about);
        }
    }

    private static String start(Device device) throws Exception {
        StartOutcome outcome = device.start(Phone.launch(Ending.EXPLAINED));
        device.confirm();
        return outcome.content.toString();
    }

    private static String sync(Device device) throws Exception {
        try {
            SyncOutcome outcome = device.sync(Phone.NOBODY);
            return outcome.kind == SyncOutcome.Kind.STAGED
                    ? "staged " + outcome.offer.id
                    : outcome.kind.name().toLowerCase(Locale.ROOT);
        } catch (SyncException failure) {
            if (failure.kind != SyncException.Kind.UNVERIFIED) {
                throw failure;
            }
            RefusalException refusal = ((TrustException) failure.getCause()).refusal();
            String role = refusal instanceof RoleException ? ((RoleException) refusal).role() + " " : "";
            return "refused " + role + refusal.code();
        }
    }
}
