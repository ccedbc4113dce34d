/** Who may sign for a role, and whether enough of them did (docs/reference/trust.md#thresholds). */
package dev.launchway.core.trust.metadata;

import dev.launchway.core.trust.keys.PublicKey;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

public final class Authority {
    private final Keys keys;
    private final RoleKeys role;

    Authority(Keys keys, RoleKeys role) {
        this.keys = keys;
        this.role = role;
    }

    /** How many distinct keys must sign. */
    public long threshold() {
        return role.threshold;
    }

    /** The distinct keys that may sign. Two ids of one key are one key. */
    public Set<PublicKey> signers() {
        Set<PublicKey> signers = new HashSet<PublicKey>();
        for (String id : role.keyIds) {
            PublicKey key = keys.get(id);
            if (key != null) {
                signers.add(key);
            }
        }
        return signers;
    }

    /** Whether enough distinct keys of the role signed the file. */
    public boolean verifies(Metadata<?> file) {
        byte[] message = file.message();
        Set<PublicKey> signers = new HashSet<PublicKey>();
        for (Map.Entry<String, byte[]> signature : file.signatures().entrySet()) {
            PublicKey key = role.keyIds.contains(signature.getKey()) ? keys.get(signature.getKey()) : null;
            if (key != null && !signers.contains(key) && key.verifies(message, signature.getValue())) {
                signers.add(key);
            }
        }
        return signers.size() >= role.threshold;
    }
}
