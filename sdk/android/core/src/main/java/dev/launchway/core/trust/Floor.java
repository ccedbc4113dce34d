/** What is remembered of one role: the highest version that was trusted. */
package dev.launchway.core.trust;

import dev.launchway.core.digest.Sha256;
import dev.launchway.core.json.Fields;
import dev.launchway.core.json.FormException;
import dev.launchway.core.json.JsonValue;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

final class Floor {
    final long version;
    /** The ids of the keys that could sign it. */
    final Set<String> keys;
    /** What it revoked. */
    final List<Sha256> revoked;

    Floor(long version, Set<String> keys, List<Sha256> revoked) {
        this.version = version;
        this.keys = Collections.unmodifiableSet(new TreeSet<String>(keys));
        this.revoked = Collections.unmodifiableList(new ArrayList<Sha256>(revoked));
    }

    JsonValue toJson() {
        Map<String, JsonValue> members = JsonValue.newMembers();
        members.put("keys", JsonValue.texts(keys));
        members.put("revoked", JsonValue.texts(revoked));
        members.put("version", JsonValue.of(version));
        return JsonValue.object(members);
    }

    static Floor read(JsonValue value) throws FormException {
        Fields fields = Fields.of(value, "floors");
        Set<String> keys = new TreeSet<String>(fields.texts("keys"));
        return new Floor(fields.positive("version"), keys, readHashes(fields, "revoked"));
    }

    static List<Sha256> readHashes(Fields fields, String field) throws FormException {
        List<Sha256> hashes = new ArrayList<Sha256>();
        for (String text : fields.texts(field)) {
            Sha256 hash = Sha256.parse(text);
            if (hash == null) {
                throw FormException.ofField(field);
            }
            hashes.add(hash);
        }
        return hashes;
    }
}
