/** Hostile texts neither overflow the stack nor take memory without bound. */
package dev.launchway.core.json;

import dev.launchway.core.testing.Check;
import dev.launchway.core.text.Utf8;
import java.util.Random;

public final class JsonReaderTest {
    public void depthIsBoundedBeforeTheStackIs() {
        for (String opening : new String[] {"[", "{\"a\":"}) {
            Check.equal(JsonException.Reason.DEPTH, refusal(repeat(opening, 400_000)), opening);
        }
    }

    public void valuesAreCounted() throws Exception {
        String most = "[" + repeat("0,", JsonReader.MAX_VALUES - 2) + "0]";
        Check.equal(JsonReader.MAX_VALUES - 1, read(most).asArray().size());
        Check.equal(JsonException.Reason.TOO_LARGE, refusal("[" + most + "]"));
        Check.equal(JsonException.Reason.TOO_LARGE, refusal("[" + repeat("[],", 600_000)));
    }

    public void theLastCharacterOfUnicodeIsNotTheEnd() throws Exception {
        Check.equal("\uffff", read("\"\uffff\"").asText());
        Check.equal(JsonException.Reason.SYNTAX, refusal("\uffff"));
        Check.equal(JsonException.Reason.SYNTAX, refusal("[1\uffff"));
    }

    public void digitsOfOtherScriptsAreNotDigits() {
        Check.equal(JsonException.Reason.SYNTAX, refusal("\u0661"));
        Check.equal(JsonException.Reason.NUMBER, refusal("-\u0661"));
        Check.equal(JsonException.Reason.SYNTAX, refusal("\"\\u\uff10\uff10\uff14\uff11\""));
    }

    public void anyBytesAreReadOrRefused() throws Exception {
        Random random = new Random(7);
        String pieces = "[]{}\",:\\/u0019aef-+. \n\u00e9\ud83d\ude00";
        for (int round = 0; round < 50_000; round++) {
            StringBuilder text = new StringBuilder();
            for (int length = random.nextInt(24); length > 0; length--) {
                text.append(pieces.charAt(random.nextInt(pieces.length())));
            }
            byte[] bytes = Utf8.encode(text.toString());
            if (bytes.length > 0 && random.nextInt(4) == 0) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
            }
            JsonValue value;
            try {
                value = JsonReader.read(bytes, 1 << 16);
            } catch (JsonException refused) {
                continue;
            }
            Check.equal(value, read(JsonWriter.ascii(value)), "what was read is written back");
            Check.equal(value, read(JsonWriter.plain(value)), "what was read is written back");
        }
    }

    private static JsonValue read(String text) throws JsonException {
        return JsonReader.read(Utf8.encode(text), 4 << 20);
    }

    private static JsonException.Reason refusal(String text) {
        try {
            read(text);
            return null;
        } catch (JsonException refused) {
            return refused.reason();
        }
    }

    private static String repeat(String text, int count) {
        StringBuilder all = new StringBuilder(text.length() * count);
        for (int index = 0; index < count; index++) {
            all.append(text);
        }
        return all.toString();
    }
}
