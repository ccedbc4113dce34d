/** A JSON value: immutable, with whole numbers as the only numbers. */
package dev.launchway.core.json;

import dev.launchway.core.text.Utf8;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

public final class JsonValue {
    /** The largest magnitude of an integer that every language represents exactly. */
    public static final long MAX_INTEGER = (1L << 53) - 1;

    public static final JsonValue NULL = new JsonValue(null);

    private static final JsonValue TRUE = new JsonValue(Boolean.TRUE);
    private static final JsonValue FALSE = new JsonValue(Boolean.FALSE);

    /** Null, or a Boolean, Long, String, List or Map. */
    private final Object content;

    private JsonValue(Object content) {
        this.content = content;
    }

    public static JsonValue of(boolean value) {
        return value ? TRUE : FALSE;
    }

    public static JsonValue of(long number) {
        if (Math.abs(number) > MAX_INTEGER || number == Long.MIN_VALUE) {
            throw new IllegalArgumentException("a JSON number is below 2^53");
        }
        return new JsonValue(number);
    }

    public static JsonValue of(String text) {
        if (text == null) {
            throw new IllegalArgumentException("a JSON text is not null");
        }
        return new JsonValue(text);
    }

    public static JsonValue array(List<JsonValue> items) {
        return new JsonValue(Collections.unmodifiableList(new ArrayList<JsonValue>(items)));
    }

    /** An array of these texts. */
    public static JsonValue texts(Iterable<?> items) {
        List<JsonValue> texts = new ArrayList<JsonValue>();
        for (Object item : items) {
            texts.add(of(item.toString()));
        }
        return array(texts);
    }

    public static JsonValue object(Map<String, JsonValue> members) {
        Map<String, JsonValue> ordered = newMembers();
        ordered.putAll(members);
        return new JsonValue(Collections.unmodifiableMap(ordered));
    }

    /** An empty map in the order of the names' UTF-8 bytes, which is the order of the canonical form. */
    public static Map<String, JsonValue> newMembers() {
        return new TreeMap<String, JsonValue>(Utf8.ORDER);
    }

    public boolean isNull() {
        return content == null;
    }

    /** The truth value; null if the value is another. */
    public Boolean asBoolean() {
        return content instanceof Boolean ? (Boolean) content : null;
    }

    /** The number; null if the value is none. */
    public Long asInteger() {
        return content instanceof Long ? (Long) content : null;
    }

    /** The text; null if the value is none. */
    public String asText() {
        return content instanceof String ? (String) content : null;
    }

    /** The items; null if the value is not an array. */
    @SuppressWarnings("unchecked")
    public List<JsonValue> asArray() {
        return content instanceof List ? (List<JsonValue>) content : null;
    }

    /** The members in the order of their names; null if the value is not an object. */
    @SuppressWarnings("unchecked")
    public Map<String, JsonValue> asObject() {
        return content instanceof Map ? (Map<String, JsonValue>) content : null;
    }

    /** The member of this name; null if there is none, or the value is not an object. */
    public JsonValue get(String name) {
        Map<String, JsonValue> members = asObject();
        return members == null ? null : members.get(name);
    }

    @Override
    public boolean equals(Object other) {
        if (!(other instanceof JsonValue)) {
            return false;
        }
        Object that = ((JsonValue) other).content;
        return content == null ? that == null : content.equals(that);
    }

    @Override
    public int hashCode() {
        return content == null ? 0 : content.hashCode();
    }

    @Override
    public String toString() {
        return JsonWriter.ascii(this);
    }
}
