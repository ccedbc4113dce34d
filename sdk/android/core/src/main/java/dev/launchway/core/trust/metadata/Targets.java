/** Targets: the updates that a role signed, the roles that it delegates to, and what it revoked. */
package dev.launchway.core.trust.metadata;

import dev.launchway.core.digest.Sha256;
import dev.launchway.core.json.Fields;
import dev.launchway.core.json.FormException;
import dev.launchway.core.json.JsonValue;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

public final class Targets {
    public static final MetadataType<Targets> TYPE = new MetadataType<Targets>("targets", 64 << 10) {
        @Override
        Targets read(Fields signed) throws FormException {
            return new Targets(signed);
        }
    };

    private static final int MAX_REVOKED = 32;
    private static final String REVOKED = "x-revoked";

    /** Targets by path. */
    public final Map<String, Target> targets;
    /** Whether it delegates at all. */
    public final boolean delegates;
    /** The hashes of packages that no phone starts, in the order in which they were revoked. */
    public final List<Sha256> revoked;

    private final Map<String, Delegation> delegations;

    private Targets(Fields signed) throws FormException {
        Map<String, Target> listed = new TreeMap<String, Target>();
        for (Map.Entry<String, JsonValue> entry : signed.object("targets").members().entrySet()) {
            listed.put(entry.getKey(), new Target(entry.getValue()));
        }
        targets = Collections.unmodifiableMap(listed);
        delegates = signed.has("delegations");
        delegations = new TreeMap<String, Delegation>();
        if (delegates) {
            readDelegations(signed.object("delegations"));
        }
        revoked = Collections.unmodifiableList(readRevoked(signed));
    }

    /** The delegation to the role of this name; null if there is none. */
    public Delegation delegation(String name) {
        return delegations.get(name);
    }

    /** No name occurs twice, and none is that of a top-level role. */
    private void readDelegations(Fields fields) throws FormException {
        Keys keys = new Keys(fields);
        if (!fields.has("roles")) {
            return;
        }
        for (JsonValue item : fields.array("roles")) {
            Delegation delegation = new Delegation(keys, Fields.of(item, "roles"));
            boolean taken = delegations.put(delegation.name, delegation) != null;
            for (TopLevel role : TopLevel.values()) {
                taken |= role.title().equals(delegation.name);
            }
            if (taken) {
                throw FormException.ofField("roles");
            }
        }
    }

    /** An unreadable list makes the file invalid: ignoring it would let a phone start what was revoked. */
    private static List<Sha256> readRevoked(Fields fields) throws FormException {
        List<Sha256> revoked = new ArrayList<Sha256>();
        if (fields.has(REVOKED)) {
            for (String text : fields.texts(REVOKED)) {
                Sha256 hash = Sha256.parse(text);
                if (hash == null || revoked.size() == MAX_REVOKED) {
                    throw FormException.ofField(REVOKED);
                }
                revoked.add(hash);
            }
        }
        return revoked;
    }
}
