/** Answers of the server to a check. */
package dev.launchway.core.session;

import dev.launchway.core.json.JsonValue;
import dev.launchway.core.json.JsonWriter;
import dev.launchway.core.testing.Update;
import dev.launchway.core.text.Utf8;
import java.util.Map;

final class TestAnswers {
    private TestAnswers() {}

    /** There is an update that needs a new store binary. */
    static byte[] storeUpdate(String reason) {
        Map<String, JsonValue> answer = Update.number(1).answer();
        answer.put("requiresStoreUpdate", JsonValue.of(true));
        answer.put("compatibilityReason", JsonValue.of(reason));
        return Utf8.encode(JsonWriter.ascii(JsonValue.object(answer)));
    }
}
