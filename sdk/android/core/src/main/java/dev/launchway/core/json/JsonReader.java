/** A strict parser for hostile bytes (docs/reference/trust.md#json): every bound is checked before memory is taken. */
package dev.launchway.core.json;

import dev.launchway.core.json.JsonException.Reason;
import dev.launchway.core.text.Utf8;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

public final class JsonReader {
    /** Arrays and objects nest at most this deep. */
    public static final int MAX_DEPTH = 32;
    /** A value takes far more memory than the byte that spells it, so values are counted, too. */
    public static final int MAX_VALUES = 100_000;

    private static final char END = '\uffff';
    /** A sign and 16 digits. */
    private static final int MAX_INTEGER_CHARACTERS = 17;

    private final String text;
    private int at;
    private int values;

    private JsonReader(String text) {
        this.text = text;
    }

    /** Reads one value of at most {@code limit} bytes; white space may surround it. */
    public static JsonValue read(byte[] bytes, int limit) throws JsonException {
        if (bytes.length > limit) {
            throw new JsonException(Reason.TOO_LARGE);
        }
        String text = Utf8.decode(bytes);
        if (text == null) {
            throw new JsonException(Reason.ENCODING);
        }
        JsonReader reader = new JsonReader(text);
        JsonValue value = reader.value(0);
        reader.skipWhiteSpace();
        if (reader.at < text.length()) {
            throw syntax();
        }
        return value;
    }

    private static JsonException syntax() {
        return new JsonException(Reason.SYNTAX);
    }

    /** The next character. At the end it is one that no JSON has outside of strings. */
    private char peek() {
        return at < text.length() ? text.charAt(at) : END;
    }

    private void skipWhiteSpace() {
        while (" \t\n\r".indexOf(peek()) >= 0) {
            at++;
        }
    }

    /** Skips white space, then takes the character if it comes next. */
    private boolean take(char wanted) {
        skipWhiteSpace();
        boolean found = peek() == wanted;
        at += found ? 1 : 0;
        return found;
    }

    private void expect(char wanted) throws JsonException {
        if (!take(wanted)) {
            throw syntax();
        }
    }

    /** {@code depth} is the number of arrays and objects around the value. */
    private JsonValue value(int depth) throws JsonException {
        skipWhiteSpace();
        values++;
        if (values > MAX_VALUES) {
            throw new JsonException(Reason.TOO_LARGE);
        }
        char first = peek();
        if (depth == MAX_DEPTH && (first == '{' || first == '[')) {
            throw new JsonException(Reason.DEPTH);
        }
        switch (first) {
            case '{':
                return object(depth + 1);
            case '[':
                return array(depth + 1);
            case '"':
                return JsonValue.of(string());
            case 't':
                return word("true", JsonValue.of(true));
            case 'f':
                return word("false", JsonValue.of(false));
            case 'n':
                return word("null", JsonValue.NULL);
            default:
                if (first == '-' || isDigit(first)) {
                    return JsonValue.of(integer());
                }
                throw syntax();
        }
    }

    private JsonValue word(String word, JsonValue value) throws JsonException {
        if (!text.startsWith(word, at)) {
            throw syntax();
        }
        at += word.length();
        return value;
    }

    private JsonValue object(int depth) throws JsonException {
        expect('{');
        Map<String, JsonValue> members = JsonValue.newMembers();
        if (take('}')) {
            return JsonValue.object(members);
        }
        do {
            skipWhiteSpace();
            String name = string();
            expect(':');
            if (members.containsKey(name)) {
                throw new JsonException(Reason.DUPLICATE_NAME);
            }
            members.put(name, value(depth));
        } while (take(','));
        expect('}');
        return JsonValue.object(members);
    }

    private JsonValue array(int depth) throws JsonException {
        expect('[');
        List<JsonValue> items = new ArrayList<JsonValue>();
        if (take(']')) {
            return JsonValue.array(items);
        }
        do {
            items.add(value(depth));
        } while (take(','));
        expect(']');
        return JsonValue.array(items);
    }

    private static boolean isDigit(char character) {
        return character >= '0' && character <= '9';
    }

    /** Only the shortest spelling of an integer reads back as itself: no leading zeros, no `-0`, no fraction. */
    private long integer() throws JsonException {
        int start = at;
        while (isDigit(peek()) || "-+.eE".indexOf(peek()) >= 0) {
            at++;
        }
        if (at - start <= MAX_INTEGER_CHARACTERS) {
            String digits = text.substring(start, at);
            try {
                long number = Long.parseLong(digits);
                if (Math.abs(number) <= JsonValue.MAX_INTEGER && Long.toString(number).equals(digits)) {
                    return number;
                }
            } catch (NumberFormatException otherSpelling) {
                throw new JsonException(Reason.NUMBER);
            }
        }
        throw new JsonException(Reason.NUMBER);
    }

    private String string() throws JsonException {
        if (peek() != '"') {
            throw syntax();
        }
        at++;
        StringBuilder content = new StringBuilder();
        while (at < text.length()) {
            char next = text.charAt(at);
            if (next == '"') {
                at++;
                return content.toString();
            }
            if (next == '\\') {
                escape(content);
            } else if (next < 0x20) {
                throw syntax();
            } else {
                content.append(next);
                at++;
            }
        }
        throw syntax();
    }

    private void escape(StringBuilder content) throws JsonException {
        at++;
        char letter = peek();
        at++;
        if (letter == 'u') {
            unicode(content);
            return;
        }
        int which = "\"\\/bfnrt".indexOf(letter);
        if (which < 0) {
            throw syntax();
        }
        content.append("\"\\/\b\f\n\r\t".charAt(which));
    }

    /** What follows `\\u`: one unit, or two that make a pair. */
    private void unicode(StringBuilder content) throws JsonException {
        char first = unit();
        content.append(first);
        if (!Character.isSurrogate(first)) {
            return;
        }
        if (Character.isLowSurrogate(first) || !text.startsWith("\\u", at)) {
            throw new JsonException(Reason.SURROGATE);
        }
        at += 2;
        char second = unit();
        if (!Character.isLowSurrogate(second)) {
            throw new JsonException(Reason.SURROGATE);
        }
        content.append(second);
    }

    private char unit() throws JsonException {
        int unit = 0;
        for (int digit = 0; digit < 4; digit++) {
            char character = peek();
            // `Character.digit` takes digits of other scripts, too.
            int value = character < 0x80 ? Character.digit(character, 16) : -1;
            if (value < 0) {
                throw syntax();
            }
            unit = unit << 4 | value;
            at++;
        }
        return (char) unit;
    }
}
