/**
 * A phone's view of its app's repository: what is trusted, what is remembered, and which offers may be installed
 * (docs/reference/trust.md#the-client).
 */
package dev.launchway.core.trust;

import dev.launchway.core.digest.Sha256;
import dev.launchway.core.json.FormException;
import dev.launchway.core.trust.metadata.Authority;
import dev.launchway.core.trust.metadata.Delegation;
import dev.launchway.core.trust.metadata.Identity;
import dev.launchway.core.trust.metadata.Metadata;
import dev.launchway.core.trust.metadata.Target;
import dev.launchway.core.trust.metadata.Targets;
import dev.launchway.core.trust.metadata.TopLevel;
import dev.launchway.core.versions.BuildNumber;
import dev.launchway.core.versions.Version;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

public final class TrustClient {
    private static final long DAY = 24L * 60 * 60 * 1000;

    private final TrustedMetadata trusted;
    private final Floors floors;
    private final SortedSet<Sha256> embeddedRevoked;
    /** The roles that sign for this app, in the order in which they are asked. */
    private final List<String> roles = new ArrayList<String>();
    /** The hash of the `signed` of each root that was trusted, by version, since the one that the app carries. */
    private final Map<Long, Sha256> lineage = new TreeMap<Long, Sha256>();

    private TrustClient(TrustedMetadata trusted, Floors floors, TrustFile embedded, String configuration) {
        this.trusted = trusted;
        this.floors = floors;
        this.embeddedRevoked = embedded.revoked;
        if (configuration != null) {
            roles.add(UpdateRole.ofConfiguration(configuration));
        }
        roles.add(UpdateRole.ANY);
    }

    /**
     * Opens what the app carries and what this phone stored before. The stored root is used only if the stored chain
     * contains the root that the app carries. Floors are kept as long as the repository is the same.
     *
     * @param configuration the app's configuration; null if it has none
     * @param stored null if nothing is stored, or it cannot be read
     * @throws RoleException the root that the app carries is not valid, or of another repository or app
     */
    public static TrustClient open(TrustFile embedded, String bundleId, String configuration, StoredTrust stored)
            throws RoleException {
        Identity identity = new Identity(embedded.repository, bundleId);
        TrustedMetadata trusted = new TrustedMetadata(embedded.root, identity);
        boolean kept = stored != null && stored.repository.equals(embedded.repository);
        Map<Long, Sha256> lineage = Collections.emptyMap();
        if (kept && hashOf(trusted).equals(stored.lineage.get(trusted.root().version))) {
            try {
                trusted = new TrustedMetadata(stored.root, identity);
                lineage = stored.lineage;
            } catch (RoleException refused) {
                // The phone begins with the root that the app carries.
            }
        }
        Map<String, Floor> learned = kept ? stored.floors : Collections.<String, Floor>emptyMap();
        Floors floors = new Floors(embedded.floors, learned);
        TrustClient client = new TrustClient(trusted, floors, embedded, configuration);
        client.lineage.putAll(lineage);
        client.learnRoot();
        if (kept) {
            trusted.restore(stored);
        }
        return client;
    }

    /** The time that decides what has expired: a clock may be wrong, but the app was not built in the future. */
    public static long now(long deviceClock, long appBuiltAt) {
        return Math.max(deviceClock, appBuiltAt);
    }

    /** Signatures may be added to a root later, so they are not part of its hash. */
    private static Sha256 hashOf(TrustedMetadata trusted) {
        return Sha256.of(trusted.root().message());
    }

    /** What to store on the phone and pass to {@link #open} at the next start. */
    public StoredTrust storedTrust() {
        return new StoredTrust(trusted, floors.learned(), lineage);
    }

    /** Starts a run that renews the metadata, at the time that {@link #now} returns. */
    public Refresh refresh(long now) {
        return new Refresh(this, now);
    }

    /**
     * The packages that this phone never starts: those that the app carries, and those that the app's roles revoked. They hold
     * even after all metadata has expired.
     */
    public SortedSet<Sha256> revokedPackages() {
        SortedSet<Sha256> revoked = new TreeSet<Sha256>(embeddedRevoked);
        for (String role : roles) {
            revoked.addAll(floors.revocationsOf(role));
        }
        return revoked;
    }

    /**
     * Whether to fetch metadata, after a check that names the server's versions of root and snapshot: when one is newer than
     * the trusted one, and once a day, so that a server which withholds everything is noticed.
     */
    public boolean isBehind(long announcedRoot, long announcedSnapshot, long refreshedAt, long now) {
        // After a clock was set back, the age of the last refresh is unknown.
        boolean stale = now < refreshedAt || now - refreshedAt >= DAY;
        return stale || announcedRoot > rootVersion() || announcedSnapshot > snapshotVersion();
    }

    public long rootVersion() {
        return trusted.root().version;
    }

    /** The version of the trusted snapshot; 0 before there is one. */
    public long snapshotVersion() {
        return trusted.snapshot() == null ? 0 : trusted.snapshot().version;
    }

    /**
     * Decides about an offer, and returns what was signed about it. The role of the app's configuration is asked first, and
     * if it signed an update of this version and build, `any` is not asked.
     *
     * @throws RoleException what is trusted is not valid now
     * @throws OfferException the update is not to be installed
     */
    public SignedUpdate accept(Offer offer, RunningApp app, long now) throws RoleException, OfferException {
        Version version = Version.parse(offer.version);
        Long build = BuildNumber.parse(offer.buildNumber);
        if (version == null || build == null) {
            throw new OfferException(OfferException.Fault.MALFORMED_ANSWER);
        }
        if (offer.platform != app.platform) {
            throw new OfferException(OfferException.Fault.OTHER_PLATFORM);
        }
        for (String role : roles) {
            Metadata<Targets> file = currentRole(role, now);
            String path = UpdateRole.targetPath(role, offer.platform, version, build);
            Target target = file == null ? null : file.body.targets.get(path);
            if (target != null) {
                SignedUpdate signed = signed(target, offer, version, build);
                check(offer.sha256, signed, app);
                return signed;
            }
        }
        throw OfferException.notSigned(version, build);
    }

    /** What was signed, which must be the package and version that are offered. */
    private static SignedUpdate signed(Target target, Offer offer, Version version, long build) throws OfferException {
        try {
            SignedUpdate signed = new SignedUpdate(target);
            boolean same = offer.sha256.equals(target.sha256) && target.length == offer.length;
            if (same && signed.version.equals(version) && signed.build == build) {
                return signed;
            }
        } catch (FormException unreadable) {
            throw new OfferException(OfferException.Fault.OTHER_PACKAGE);
        }
        throw new OfferException(OfferException.Fault.OTHER_PACKAGE);
    }

    /** Checks that a signed update is for this app, now. */
    private void check(Sha256 sha256, SignedUpdate signed, RunningApp app) throws OfferException {
        if (revokedPackages().contains(sha256)) {
            throw new OfferException(OfferException.Fault.REVOKED);
        }
        // Stricter than the server's decision: an app without a fingerprint does not know that it fits.
        if (signed.fingerprint != null && !signed.fingerprint.equals(app.fingerprint)) {
            throw new OfferException(OfferException.Fault.OTHER_FINGERPRINT);
        }
        int order = signed.version.compareTo(app.version);
        boolean newerBuild = app.build != null && BuildNumber.isNewer(signed.build, app.build);
        if (order < 0 || (order == 0 && !newerBuild)) {
            throw new OfferException(OfferException.Fault.NOT_NEWER);
        }
    }

    /** The role's file if it is delegated to and everything down to it is valid now; null if it is not delegated to. */
    private Metadata<Targets> currentRole(String name, long now) throws RoleException {
        trusted.checkCurrent(now);
        checkFloorOfTargets(trusted.targets().version);
        RoleState state = delegatedState(name, now);
        if (state == RoleState.NOT_DELEGATED) {
            return null;
        }
        Metadata<Targets> file = trusted.role(name);
        if (state == RoleState.CURRENT) {
            return file;
        }
        if (file != null && file.version == state.wanted) {
            Checks.expectValid(name, file, now);
        }
        throw RoleException.missing(name);
    }

    /** Checks the form of the delegation and the role's floor, then returns {@link TrustedMetadata#roleState}. */
    RoleState delegatedState(String name, long now) throws RoleException {
        Delegation delegation = trusted.delegation(name);
        if (delegation == null) {
            return RoleState.NOT_DELEGATED;
        }
        if (!delegation.paths.equals(Collections.singletonList(UpdateRole.pathPattern(name)))) {
            throw new RoleException(name, Reason.OTHER_PATHS, "has a delegation for paths that are not its own");
        }
        RoleState state = trusted.roleState(name, now);
        long listed = state == RoleState.CURRENT ? trusted.role(name).version : state.wanted;
        floors.check(name, delegation.authority, listed);
        return state;
    }

    TrustedMetadata trusted() {
        return trusted;
    }

    List<String> roles() {
        return roles;
    }

    void checkFloorOfTargets(long version) throws RoleException {
        floors.check("targets", authorityOfTargets(), version);
    }

    void learnRoot() {
        lineage.put(trusted.root().version, hashOf(trusted));
    }

    void learnTargets() {
        floors.learn("targets", authorityOfTargets(), trusted.targets());
    }

    void learnRole(String name) {
        floors.learn(name, trusted.delegation(name).authority, trusted.role(name));
    }

    void forgetRevoked(String name) {
        floors.forgetRevoked(name);
    }

    private Authority authorityOfTargets() {
        return trusted.authority(TopLevel.TARGETS);
    }
}
