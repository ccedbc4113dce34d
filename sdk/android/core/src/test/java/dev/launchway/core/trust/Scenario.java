/** A scenario of `sdk/vectors/trust/workflow.json` and what its server serves, for tests that change it. */
package dev.launchway.core.trust;

import dev.launchway.core.json.JsonValue;
import dev.launchway.core.json.JsonWriter;
import dev.launchway.core.testing.Vectors;
import dev.launchway.core.text.Utf8;
import java.util.Map;
import java.util.TreeMap;

final class Scenario {
    final JsonValue content;
    final TrustFile embedded;
    /** The files of the first step. */
    final Map<String, byte[]> files = new TreeMap<String, byte[]>();
    final long now;

    Scenario(int index) throws Exception {
        content = Vectors.read("trust/workflow.json").get("scenarios").asArray().get(index);
        embedded = TrustFile.parse(Utf8.encode(JsonWriter.ascii(content.get("embedded"))));
        JsonValue step = content.get("steps").asArray().get(0);
        now = step.get("now").asInteger();
        for (Map.Entry<String, JsonValue> file : step.get("files").asObject().entrySet()) {
            files.put(file.getKey(), Utf8.encode(file.getValue().asText()));
        }
    }

    TrustClient open(StoredTrust stored) throws RoleException {
        return TrustClient.open(embedded, "com.example.app", "production", stored);
    }

    /** Runs the workflow with the server's files. Returns `accepted`, or the role and code of the refusal. */
    String renew(TrustClient client, long time) {
        Refresh refresh = client.refresh(time);
        try {
            FileRequest request = refresh.nextRequest();
            while (request != null) {
                byte[] file = files.get(request.fileName());
                if (file == null) {
                    refresh.reportMissing();
                } else {
                    refresh.take(file);
                }
                request = refresh.nextRequest();
            }
            return "accepted";
        } catch (RoleException refused) {
            return refused.role() + " " + refused.code();
        }
    }
}
