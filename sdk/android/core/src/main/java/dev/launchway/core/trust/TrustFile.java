/** `launchway.trust.json`, which an app carries: where its trust begins (docs/reference/trust.md#the-trust-file). */
package dev.launchway.core.trust;

import dev.launchway.core.digest.Sha256;
import dev.launchway.core.json.Fields;
import dev.launchway.core.json.FormException;
import dev.launchway.core.json.JsonReader;
import dev.launchway.core.json.JsonValue;
import dev.launchway.core.trust.metadata.Identity;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

public final class TrustFile {
    private static final int MAX_BYTES = 256 << 10;
    private static final Set<String> KNOWN = new HashSet<String>(Arrays.asList("floors", "repository", "revoked", "root"));

    /** The root, as the text that was signed. */
    public final String root;
    /** The id of the repository. */
    public final String repository;
    /** The lowest version of roles that is taken. */
    public final Map<String, Long> floors;
    /** Packages that are never started. */
    public final SortedSet<Sha256> revoked;

    private TrustFile(Fields fields) throws FormException {
        // A field that is not known may be one that forbids something.
        if (!KNOWN.containsAll(fields.members().keySet())) {
            throw FormException.ofField("launchway.trust.json");
        }
        root = fields.text("root");
        repository = fields.text("repository");
        if (!Identity.isRepositoryId(repository)) {
            throw FormException.ofField("repository");
        }
        Map<String, Long> versions = new TreeMap<String, Long>();
        Fields listed = fields.object("floors");
        for (Map.Entry<String, JsonValue> floor : listed.members().entrySet()) {
            versions.put(floor.getKey(), listed.positive(floor.getKey()));
        }
        floors = Collections.unmodifiableMap(versions);
        revoked = Collections.unmodifiableSortedSet(new TreeSet<Sha256>(Floor.readHashes(fields, "revoked")));
    }

    public static TrustFile parse(byte[] bytes) throws FormException {
        return new TrustFile(Fields.of(JsonReader.read(bytes, MAX_BYTES), "launchway.trust.json"));
    }
}
