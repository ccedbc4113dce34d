/**
 * The metadata that is trusted, and the rules by which newer metadata takes its place: sections 5.3 to 5.6 of the
 * specification of The Update Framework. Every file is refused as a whole or replaces the one before; floors and
 * revocations are the client's.
 */
package dev.launchway.core.trust;

import dev.launchway.core.text.Utf8;
import dev.launchway.core.trust.metadata.Authority;
import dev.launchway.core.trust.metadata.Delegation;
import dev.launchway.core.trust.metadata.Identity;
import dev.launchway.core.trust.metadata.MetaFile;
import dev.launchway.core.trust.metadata.Metadata;
import dev.launchway.core.trust.metadata.MetadataType;
import dev.launchway.core.trust.metadata.Root;
import dev.launchway.core.trust.metadata.Snapshot;
import dev.launchway.core.trust.metadata.Targets;
import dev.launchway.core.trust.metadata.Timestamp;
import dev.launchway.core.trust.metadata.TopLevel;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

final class TrustedMetadata {
    private final Identity identity;
    private Metadata<Root> root;
    private Metadata<Timestamp> timestamp;
    private Metadata<Snapshot> snapshot;
    private Metadata<Targets> targets;
    private final Map<String, Metadata<Targets>> roles = new TreeMap<String, Metadata<Targets>>();

    /**
     * Starts from a root that is trusted because of its origin: the app, or this phone's storage. It must be signed by its
     * own keys, and may have expired. {@code identity} is the repository and app that all files must name; null: any, which is
     * for tests of the workflow alone.
     */
    TrustedMetadata(String rootText, Identity identity) throws RoleException {
        this.identity = identity;
        root = Checks.read("root", Utf8.encode(rootText), Root.TYPE, identity);
        Checks.verify("root", authority(TopLevel.ROOT), root);
    }

    /** Restores files that this phone stored. Files that do not verify are dropped. */
    void restore(StoredTrust stored) {
        timestamp = readStored("timestamp", stored.timestamp, Timestamp.TYPE);
        snapshot = readStored("snapshot", stored.snapshot, Snapshot.TYPE);
        targets = readStored("targets", stored.targets, Targets.TYPE);
        roles.clear();
        for (Map.Entry<String, String> role : stored.roles.entrySet()) {
            Metadata<Targets> file = readStored(role.getKey(), role.getValue(), Targets.TYPE);
            if (file != null) {
                roles.put(role.getKey(), file);
            }
        }
        dropUnsigned();
    }

    private <T> Metadata<T> readStored(String role, String text, MetadataType<T> type) {
        try {
            return text == null ? null : Checks.read(role, Utf8.encode(text), type, identity);
        } catch (RoleException refused) {
            return null;
        }
    }

    /** Takes the next root of the chain, signed by the keys of the present one and by its own. */
    void updateRoot(byte[] bytes) throws RoleException {
        Metadata<Root> next = Checks.read("root", bytes, Root.TYPE, identity);
        Checks.verify("root", authority(TopLevel.ROOT), next);
        Checks.verify("root", next.body.authority(TopLevel.ROOT), next);
        Checks.expectVersion("root", root.version + 1, next);
        root = next;
    }

    /**
     * Ends the chain of roots: drops files that the keys of the last root did not sign, so that new online keys reset the
     * versions of snapshot and timestamp, and checks that the last root is valid.
     */
    void finishRoots(long now) throws RoleException {
        dropUnsigned();
        Checks.expectValid("root", root, now);
    }

    /** Takes a timestamp. Returns whether it replaced the trusted one. */
    boolean updateTimestamp(byte[] bytes, long now) throws RoleException {
        Metadata<Timestamp> next = Checks.read("timestamp", bytes, Timestamp.TYPE, identity);
        Checks.verify("timestamp", authority(TopLevel.TIMESTAMP), next);
        if (timestamp != null) {
            Checks.expectNoRollback("timestamp", timestamp.version, next.version);
            if (next.version == timestamp.version) {
                Checks.expectValid("timestamp", timestamp, now);
                return false;
            }
            long before = timestamp.body.snapshot.version;
            Checks.expectNoListedRollback("timestamp", "snapshot.json", before, next.body.snapshot.version);
        }
        Checks.expectValid("timestamp", next, now);
        timestamp = next;
        return true;
    }

    /** The version of the snapshot to fetch; 0 when the trusted one is current. */
    long nextSnapshotVersion(long now) throws RoleException {
        MetaFile listed = listedSnapshot();
        return Checks.isCurrent(snapshot, listed, now) ? 0 : listed.version;
    }

    /** Takes the snapshot that the timestamp names. It lists all that the trusted one lists, nothing at a lower version. */
    void updateSnapshot(byte[] bytes, long now) throws RoleException {
        Metadata<Snapshot> next = Checks.readListed(
                "snapshot", bytes, Snapshot.TYPE, identity, listedSnapshot(), authority(TopLevel.SNAPSHOT));
        if (snapshot != null) {
            Checks.expectNoRollback("snapshot", snapshot.version, next.version);
            for (Map.Entry<String, MetaFile> before : snapshot.body.files.entrySet()) {
                String name = before.getKey();
                MetaFile after = next.body.files.get(name);
                if (after == null) {
                    throw new RoleException("snapshot", Reason.NO_LONGER_LISTS, "no longer lists `" + name + "`");
                }
                Checks.expectNoListedRollback("snapshot", name, before.getValue().version, after.version);
            }
        }
        Checks.expectValid("snapshot", next, now);
        snapshot = next;
    }

    /** The version of targets to fetch; 0 when the trusted file is current. */
    long nextTargetsVersion(long now) throws RoleException {
        MetaFile listed = listedFile("targets");
        return Checks.isCurrent(targets, listed, now) ? 0 : listed.version;
    }

    /** Takes the targets that the snapshot lists. */
    void updateTargets(byte[] bytes, long now) throws RoleException {
        Metadata<Targets> next = Checks.readListed(
                "targets", bytes, Targets.TYPE, identity, listedFile("targets"), authority(TopLevel.TARGETS));
        Checks.expectValid("targets", next, now);
        targets = next;
    }

    /**
     * Whether the trusted file of the delegated role is current and signed by the keys that `targets` names now. Signatures
     * of keys that were named before do not count.
     */
    RoleState roleState(String name, long now) throws RoleException {
        Delegation delegation = delegation(name);
        if (delegation == null) {
            return RoleState.NOT_DELEGATED;
        }
        MetaFile listed = listedFile(name);
        Metadata<Targets> trusted = roles.get(name);
        boolean current = Checks.isCurrent(trusted, listed, now) && delegation.authority.verifies(trusted);
        return current ? RoleState.CURRENT : RoleState.wanted(listed.version);
    }

    /** Takes the file of a role that `targets` delegates to. */
    void updateRole(String name, byte[] bytes, long now) throws RoleException {
        Delegation delegation = delegation(name);
        if (delegation == null) {
            throw notListed(name);
        }
        Metadata<Targets> next = Checks.readListed(
                name, bytes, Targets.TYPE, identity, listedFile(name), delegation.authority);
        Checks.expectValid(name, next, now);
        roles.put(name, next);
    }

    /** Checks that the trusted files, from the root to targets, belong together and are valid now. */
    void checkCurrent(long now) throws RoleException {
        Checks.expectValid("root", root, now);
        MetaFile listed = listedSnapshot();
        Checks.expectValid("timestamp", timestamp, now);
        if (snapshot == null) {
            throw RoleException.missing("snapshot");
        }
        Checks.expectVersion("snapshot", listed.version, snapshot);
        Checks.expectValid("snapshot", snapshot, now);
        if (targets == null) {
            throw RoleException.missing("targets");
        }
        Checks.expectVersion("targets", listedFile("targets").version, targets);
        Checks.expectValid("targets", targets, now);
    }

    Metadata<Root> root() {
        return root;
    }

    /** The trusted timestamp; null before there is one. So are the others. */
    Metadata<Timestamp> timestamp() {
        return timestamp;
    }

    Metadata<Snapshot> snapshot() {
        return snapshot;
    }

    Metadata<Targets> targets() {
        return targets;
    }

    /** The file of a delegated role. Use it only if {@link #roleState} is current. */
    Metadata<Targets> role(String name) {
        return roles.get(name);
    }

    Map<String, Metadata<Targets>> roles() {
        return Collections.unmodifiableMap(roles);
    }

    /** The delegation of the trusted targets to a role; null if there is none. */
    Delegation delegation(String name) {
        return targets == null ? null : targets.body.delegation(name);
    }

    Authority authority(TopLevel role) {
        return root.body.authority(role);
    }

    private MetaFile listedSnapshot() throws RoleException {
        if (timestamp == null) {
            throw RoleException.missing("timestamp");
        }
        return timestamp.body.snapshot;
    }

    private MetaFile listedFile(String role) throws RoleException {
        if (snapshot == null) {
            throw RoleException.missing("snapshot");
        }
        MetaFile listed = snapshot.body.role(role);
        if (listed == null) {
            throw notListed(role);
        }
        return listed;
    }

    private static RoleException notListed(String role) {
        return new RoleException(role, Reason.NOT_LISTED, "is not listed in the snapshot");
    }

    private void dropUnsigned() {
        timestamp = signed(timestamp, TopLevel.TIMESTAMP);
        snapshot = signed(snapshot, TopLevel.SNAPSHOT);
        targets = signed(targets, TopLevel.TARGETS);
    }

    private <T> Metadata<T> signed(Metadata<T> file, TopLevel role) {
        return file != null && authority(role).verifies(file) ? file : null;
    }
}
