/** Reads an object member by member. Members that nobody asks for are ignored. */
package dev.launchway.core.json;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

public final class Fields {
    private final Map<String, JsonValue> members;

    private Fields(Map<String, JsonValue> members) {
        this.members = members;
    }

    /** The members of an object. The error for every other value names {@code field}. */
    public static Fields of(JsonValue value, String field) throws FormException {
        Map<String, JsonValue> members = value.asObject();
        if (members == null) {
            throw FormException.ofField(field);
        }
        return new Fields(members);
    }

    public Map<String, JsonValue> members() {
        return members;
    }

    public boolean has(String field) {
        return members.containsKey(field);
    }

    public JsonValue value(String field) throws FormException {
        return present(members.get(field), field);
    }

    public String text(String field) throws FormException {
        return present(value(field).asText(), field);
    }

    /** The text, or null where the field is missing. */
    public String optionalText(String field) throws FormException {
        return has(field) ? text(field) : null;
    }

    public boolean bool(String field) throws FormException {
        return present(value(field).asBoolean(), field);
    }

    /** An integer that is not negative. */
    public long count(String field) throws FormException {
        long number = present(value(field).asInteger(), field);
        if (number < 0) {
            throw FormException.ofField(field);
        }
        return number;
    }

    /** An integer above zero. */
    public long positive(String field) throws FormException {
        long number = count(field);
        if (number == 0) {
            throw FormException.ofField(field);
        }
        return number;
    }

    public Fields object(String field) throws FormException {
        return of(value(field), field);
    }

    public List<JsonValue> array(String field) throws FormException {
        return present(value(field).asArray(), field);
    }

    public List<String> texts(String field) throws FormException {
        List<String> texts = new ArrayList<String>();
        for (JsonValue item : array(field)) {
            texts.add(present(item.asText(), field));
        }
        return texts;
    }

    private static <T> T present(T value, String field) throws FormException {
        if (value == null) {
            throw FormException.ofField(field);
        }
        return value;
    }
}
