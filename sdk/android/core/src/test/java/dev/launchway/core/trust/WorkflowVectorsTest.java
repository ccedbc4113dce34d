/** Clients do as the scenarios in `sdk/vectors/trust/workflow.json` say. */
package dev.launchway.core.trust;

import dev.launchway.core.digest.Sha256;
import dev.launchway.core.json.JsonValue;
import dev.launchway.core.json.JsonWriter;
import dev.launchway.core.testing.Check;
import dev.launchway.core.testing.Vectors;
import dev.launchway.core.text.Utf8;
import dev.launchway.core.versions.Version;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

public final class WorkflowVectorsTest {
    public void clientsDoAsTheScenariosSay() throws Exception {
        List<JsonValue> scenarios = Vectors.read("trust/workflow.json").get("scenarios").asArray();
        Check.that(scenarios.size() >= 23, "the vectors are complete");
        for (JsonValue scenario : scenarios) {
            run(scenario);
        }
    }

    private static void run(JsonValue scenario) throws Exception {
        TrustFile embedded = TrustFile.parse(Utf8.encode(JsonWriter.ascii(scenario.get("embedded"))));
        Map<String, JsonValue> files = new TreeMap<String, JsonValue>();
        StoredTrust stored = null;
        int number = 0;
        for (JsonValue step : scenario.get("steps").asArray()) {
            String name = scenario.get("name").asText() + ", step " + number;
            number++;
            files.putAll(step.get("files").asObject());
            long now = step.get("now").asInteger();
            // Each step is a start of the app, with what the previous one stored.
            TrustClient client = TrustClient.open(
                    embedded, scenario.get("bundleId").asText(), scenario.get("configuration").asText(), stored);
            Check.equal(step.get("expect").asText(), outcome(client, files, now), name);
            if (step.get("revoked") != null) {
                Check.equal(step.get("revoked"), JsonValue.texts(client.revokedPackages()), name);
            }
            if (step.get("offers") != null) {
                for (JsonValue offer : step.get("offers").asArray()) {
                    Check.equal(offer.get("expect").asText(), decision(client, offer, now), name + ": " + offer);
                }
            }
            stored = StoredTrust.parse(client.storedTrust().toJson());
            Check.equal(client.storedTrust().toJson(), stored.toJson(), "what is stored is read back");
        }
    }

    private static String outcome(TrustClient client, Map<String, JsonValue> files, long now) {
        Refresh refresh = client.refresh(now);
        try {
            FileRequest request = refresh.nextRequest();
            while (request != null) {
                JsonValue file = files.get(request.fileName());
                if (file == null || file.isNull()) {
                    refresh.reportMissing();
                } else {
                    refresh.take(Utf8.encode(file.asText()));
                }
                request = refresh.nextRequest();
            }
            return "accepted";
        } catch (RoleException refused) {
            return refused.role() + " " + refused.code();
        }
    }

    private static String decision(TrustClient client, JsonValue vector, long now) {
        JsonValue asking = vector.get("app");
        RunningApp app = new RunningApp(
                Platform.parse(asking.get("platform").asText()),
                optionalText(asking, "fingerprint"),
                Version.parse(asking.get("version").asText()),
                optionalText(asking, "build"));
        Offer offer = new Offer(
                Platform.parse(vector.get("platform").asText()),
                vector.get("version").asText(),
                vector.get("buildNumber").asText(),
                Sha256.parse(vector.get("sha256").asText()),
                vector.get("size").asInteger());
        try {
            client.accept(offer, app, now);
            return "accepted";
        } catch (RefusalException refused) {
            return refused.code();
        }
    }

    private static String optionalText(JsonValue value, String name) {
        return value.get(name) == null ? null : value.get(name).asText();
    }
}
