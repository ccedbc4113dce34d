/**
 * Three spellings of a value: the canonical one, which is what is signed, plain ASCII JSON for files that people handle,
 * and plain UTF-8 JSON, which is shorter.
 */
package dev.launchway.core.json;

import dev.launchway.core.text.Utf8;
import java.util.List;
import java.util.Map;

public final class JsonWriter {
    private enum Escapes {
        CANONICAL,
        ASCII,
        DEMANDED
    }

    private final StringBuilder out = new StringBuilder();
    private final Escapes escapes;

    private JsonWriter(Escapes escapes) {
        this.escapes = escapes;
    }

    /**
     * The canonical form of The Update Framework (OLPC): no white space, names in order, and in strings only `"` and `\`
     * escaped; control characters appear verbatim. It differs from RFC 8785 in these escapes.
     */
    public static byte[] canonical(JsonValue value) {
        return Utf8.encode(write(value, Escapes.CANONICAL));
    }

    /** The value as JSON of ASCII characters only, without white space and with the names in order. */
    public static String ascii(JsonValue value) {
        return write(value, Escapes.ASCII);
    }

    /** The value as JSON that escapes only what JSON demands, without white space and with the names in order. */
    public static String plain(JsonValue value) {
        return write(value, Escapes.DEMANDED);
    }

    private static String write(JsonValue value, Escapes escapes) {
        JsonWriter writer = new JsonWriter(escapes);
        writer.value(value);
        return writer.out.toString();
    }

    private void value(JsonValue value) {
        if (value.isNull()) {
            out.append("null");
        } else if (value.asBoolean() != null) {
            out.append(value.asBoolean().booleanValue());
        } else if (value.asInteger() != null) {
            out.append(value.asInteger().longValue());
        } else if (value.asText() != null) {
            string(value.asText());
        } else if (value.asArray() != null) {
            array(value.asArray());
        } else {
            object(value.asObject());
        }
    }

    private void array(List<JsonValue> items) {
        char before = '[';
        for (JsonValue item : items) {
            out.append(before);
            value(item);
            before = ',';
        }
        out.append(items.isEmpty() ? "[]" : "]");
    }

    private void object(Map<String, JsonValue> members) {
        char before = '{';
        for (Map.Entry<String, JsonValue> member : members.entrySet()) {
            out.append(before);
            string(member.getKey());
            out.append(':');
            value(member.getValue());
            before = ',';
        }
        out.append(members.isEmpty() ? "{}" : "}");
    }

    private void string(String text) {
        out.append('"');
        for (int at = 0; at < text.length(); at++) {
            character(text.charAt(at));
        }
        out.append('"');
    }

    private void character(char character) {
        if (character == '"' || character == '\\') {
            out.append('\\').append(character);
        } else if (escapes == Escapes.CANONICAL) {
            out.append(character);
        } else if (character == '\n') {
            out.append("\\n");
        } else if (escapes == Escapes.DEMANDED && character == '\r') {
            out.append("\\r");
        } else if (escapes == Escapes.DEMANDED && character == '\t') {
            out.append("\\t");
        } else if (character < ' ' || (escapes == Escapes.ASCII && character > '~')) {
            out.append("\\u");
            for (int shift = 12; shift >= 0; shift -= 4) {
                out.append(Character.forDigit((character >> shift) & 15, 16));
            }
        } else {
            out.append(character);
        }
    }
}
