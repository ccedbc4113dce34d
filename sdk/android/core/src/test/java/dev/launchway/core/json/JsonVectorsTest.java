/** The texts in `sdk/vectors` are read, written and refused as the vectors say. */
package dev.launchway.core.json;

import dev.launchway.core.testing.Check;
import dev.launchway.core.testing.Vectors;
import dev.launchway.core.text.Utf8;
import java.util.List;

public final class JsonVectorsTest {
    public void textsAreReadAndWrittenBack() throws Exception {
        List<JsonValue> cases = Vectors.read("json.json").get("read").asArray();
        Check.that(cases.size() >= 23, "the vectors are complete");
        for (JsonValue vector : cases) {
            String text = vector.get("text").asText();
            JsonValue value = JsonReader.read(Utf8.encode(text), 1 << 16);
            Check.equal(vector.get("written").asText(), JsonWriter.plain(value), text);
        }
    }

    public void textsOfDevicesAreRefused() throws Exception {
        List<JsonValue> cases = Vectors.read("json.json").get("refused").asArray();
        Check.that(cases.size() >= 73, "the vectors are complete");
        for (JsonValue vector : cases) {
            Check.that(!"accepted".equals(outcome(Vectors.text(vector), 1 << 16)), "refused: " + vector);
        }
    }

    public void metadataHasItsCanonicalForm() throws Exception {
        JsonValue vectors = Vectors.read("trust/json.json");
        int limit = vectors.get("limit").asInteger().intValue();
        List<JsonValue> cases = vectors.get("accepted").asArray();
        Check.that(cases.size() >= 19, "the vectors are complete");
        for (JsonValue vector : cases) {
            JsonValue value = JsonReader.read(Vectors.text(vector), limit);
            String canonical = Utf8.decode(JsonWriter.canonical(value));
            Check.equal(vector.get("canonical").asText(), canonical, vector.get("name").asText());
        }
    }

    public void metadataIsRefusedForItsReason() throws Exception {
        JsonValue vectors = Vectors.read("trust/json.json");
        int limit = vectors.get("limit").asInteger().intValue();
        List<JsonValue> cases = vectors.get("refused").asArray();
        Check.that(cases.size() >= 99, "the vectors are complete");
        for (JsonValue vector : cases) {
            Check.equal(vector.get("reason").asText(), outcome(Vectors.text(vector), limit), vector.toString());
        }
    }

    private static String outcome(byte[] bytes, int limit) {
        try {
            JsonReader.read(bytes, limit);
            return "accepted";
        } catch (JsonException refusal) {
            return refusal.reason().code();
        }
    }
}
