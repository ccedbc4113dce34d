/** The keys of a file by key id. Ids are opaque. */
package dev.launchway.core.trust.metadata;

import dev.launchway.core.json.Fields;
import dev.launchway.core.json.FormException;
import dev.launchway.core.json.JsonValue;
import dev.launchway.core.trust.keys.PublicKey;
import java.util.Map;
import java.util.TreeMap;

final class Keys {
    private final Map<String, PublicKey> keys = new TreeMap<String, PublicKey>();

    /** Reads the field `keys` of a root or of delegations. */
    Keys(Fields fields) throws FormException {
        for (Map.Entry<String, JsonValue> entry : fields.object("keys").members().entrySet()) {
            if (entry.getValue().asObject() == null) {
                throw FormException.ofField("keys");
            }
            PublicKey key = publicKey(entry.getValue());
            if (key != null) {
                keys.put(entry.getKey(), key);
            }
        }
    }

    /** The key of this id; null if there is none, or it is of an unsupported type or form and never counts. */
    PublicKey get(String id) {
        return keys.get(id);
    }

    private static PublicKey publicKey(JsonValue value) {
        boolean supported = PublicKey.KEY_TYPE.equals(text(value, "keytype"))
                && PublicKey.SCHEME.equals(text(value, "scheme"));
        JsonValue content = value.get("keyval");
        String pem = content == null ? null : text(content, "public");
        return supported && pem != null ? PublicKey.fromPem(pem) : null;
    }

    private static String text(JsonValue value, String name) {
        JsonValue member = value.get(name);
        return member == null ? null : member.asText();
    }
}
