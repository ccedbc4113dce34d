/** Reads the vectors that all clients share (`sdk/vectors`). */
package dev.launchway.core.testing;

import dev.launchway.core.json.JsonReader;
import dev.launchway.core.json.JsonValue;
import dev.launchway.core.text.Hex;
import dev.launchway.core.text.Utf8;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

public final class Vectors {
    private static final int MAX_BYTES = 8 << 20;

    private Vectors() {}

    /** The file at this path below `sdk/vectors`. */
    public static JsonValue read(String path) throws Exception {
        return JsonReader.read(bytes(new File(System.getProperty("launchway.vectors"), path)), MAX_BYTES);
    }

    /** The text of a vector, which is spelled out, in hexadecimal digits, or repeated. */
    public static byte[] text(JsonValue vector) {
        if (vector.get("hex") != null) {
            return Hex.decode(vector.get("hex").asText());
        }
        if (vector.get("text") != null) {
            return Utf8.encode(vector.get("text").asText());
        }
        return Utf8.encode(repeated(vector.get("repeat"), vector.get("count")));
    }

    /** The text of these parts, each a pair of a text and how often it is repeated. */
    public static String parts(JsonValue parts) {
        StringBuilder text = new StringBuilder();
        for (JsonValue part : parts.asArray()) {
            text.append(repeated(part.asArray().get(0), part.asArray().get(1)));
        }
        return text.toString();
    }

    private static String repeated(JsonValue part, JsonValue times) {
        StringBuilder text = new StringBuilder();
        for (long count = times.asInteger(); count > 0; count--) {
            text.append(part.asText());
        }
        return text.toString();
    }

    /** Texts that are no JSON for this client. */
    public static List<byte[]> hostileTexts() throws Exception {
        List<byte[]> texts = new ArrayList<byte[]>();
        for (String file : new String[] {"json.json", "trust/json.json"}) {
            for (JsonValue vector : read(file).get("refused").asArray()) {
                texts.add(text(vector));
            }
        }
        return texts;
    }

    private static byte[] bytes(File file) throws IOException {
        byte[] bytes = new byte[(int) file.length()];
        try (InputStream input = new FileInputStream(file)) {
            int length = 0;
            while (length < bytes.length) {
                int count = input.read(bytes, length, bytes.length - length);
                if (count < 0) {
                    return Arrays.copyOf(bytes, length);
                }
                length += count;
            }
        }
        return bytes;
    }
}
