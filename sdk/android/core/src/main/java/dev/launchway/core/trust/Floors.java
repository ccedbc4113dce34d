/**
 * What a phone remembers of the developers' roles above The Update Framework: the lowest version that it takes, and the
 * packages that were revoked (docs/reference/trust.md#floors).
 *
 * <p>The framework forgets the versions of all roles with the server's keys, so that a server can recover. A server that was
 * taken must not: whoever holds it would offer roles that the developers replaced.
 */
package dev.launchway.core.trust;

import dev.launchway.core.digest.Sha256;
import dev.launchway.core.trust.keys.PublicKey;
import dev.launchway.core.trust.metadata.Authority;
import dev.launchway.core.trust.metadata.Metadata;
import dev.launchway.core.trust.metadata.Targets;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

final class Floors {
    /** Those that the app carries, which never fall. */
    private final Map<String, Long> embedded;
    /** Those that this phone learned. */
    private final Map<String, Floor> learned;

    Floors(Map<String, Long> embedded, Map<String, Floor> learned) {
        this.embedded = embedded;
        this.learned = new TreeMap<String, Floor>(learned);
    }

    Map<String, Floor> learned() {
        return Collections.unmodifiableMap(learned);
    }

    /** What a role revoked, as far as this phone knows. */
    List<Sha256> revocationsOf(String role) {
        Floor floor = learned.get(role);
        return floor == null ? Collections.<Sha256>emptyList() : floor.revoked;
    }

    /**
     * Forgets what a role revoked, because `targets` no longer delegates to it and nobody could take it back. The version is
     * kept in case the role returns.
     */
    void forgetRevoked(String role) {
        Floor floor = learned.get(role);
        if (floor != null) {
            learned.put(role, new Floor(floor.version, floor.keys, Collections.<Sha256>emptyList()));
        }
    }

    /**
     * The lowest version of a role that is taken when {@code authority} signs for it.
     *
     * <p>A learned floor falls when fewer of the keys that it was learned under remain than must sign now: then the holders
     * of the old keys alone can no longer sign anything, and the new holders need not know what those signed.
     */
    private long of(String role, Authority authority) {
        long lowest = embedded.containsKey(role) ? embedded.get(role) : 0;
        Floor floor = learned.get(role);
        if (floor == null) {
            return lowest;
        }
        long remaining = 0;
        for (PublicKey key : authority.signers()) {
            remaining += floor.keys.contains(key.id()) ? 1 : 0;
        }
        return remaining >= authority.threshold() ? Math.max(lowest, floor.version) : lowest;
    }

    /** Checks that this version of a role is at or above its floor. */
    void check(String role, Authority authority, long found) throws RoleException {
        long floor = of(role, authority);
        if (found < floor) {
            throw new RoleException(role, Reason.BELOW_FLOOR, "has version " + found + ", below its floor " + floor);
        }
    }

    /** Remembers a role whose file was just verified and is valid. */
    void learn(String role, Authority authority, Metadata<Targets> file) {
        Set<String> keys = new TreeSet<String>();
        for (PublicKey key : authority.signers()) {
            keys.add(key.id());
        }
        learned.put(role, new Floor(file.version, keys, file.body.revoked));
    }
}
