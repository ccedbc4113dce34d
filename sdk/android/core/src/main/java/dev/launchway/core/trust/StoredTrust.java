/** What a phone keeps of its trust: the trusted files, the learned floors, and the chain of roots, as JSON. */
package dev.launchway.core.trust;

import dev.launchway.core.digest.Sha256;
import dev.launchway.core.json.Fields;
import dev.launchway.core.json.FormException;
import dev.launchway.core.json.JsonReader;
import dev.launchway.core.json.JsonValue;
import dev.launchway.core.json.JsonWriter;
import dev.launchway.core.text.Utf8;
import dev.launchway.core.trust.metadata.Identity;
import dev.launchway.core.trust.metadata.Metadata;
import dev.launchway.core.trust.metadata.Targets;
import java.util.Map;
import java.util.TreeMap;

public final class StoredTrust {
    private static final int MAX_BYTES = 2 << 20;
    private static final String STORED = "stored";

    final String repository;
    final String root;
    /** The hash of the `signed` of each root that was trusted, by version, since the one that the app carries. */
    final Map<Long, Sha256> lineage;

    final Map<String, Floor> floors;
    /** Null before there is one. So are the next two. */
    final String timestamp;

    final String snapshot;
    final String targets;
    final Map<String, String> roles;

    StoredTrust(TrustedMetadata trusted, Map<String, Floor> floors, Map<Long, Sha256> lineage) {
        this.repository = trusted.root().identity.repository;
        this.root = trusted.root().text;
        this.lineage = new TreeMap<Long, Sha256>(lineage);
        this.floors = new TreeMap<String, Floor>(floors);
        this.timestamp = text(trusted.timestamp());
        this.snapshot = text(trusted.snapshot());
        this.targets = text(trusted.targets());
        this.roles = new TreeMap<String, String>();
        for (Map.Entry<String, Metadata<Targets>> role : trusted.roles().entrySet()) {
            roles.put(role.getKey(), role.getValue().text);
        }
    }

    private static String text(Metadata<?> file) {
        return file == null ? null : file.text;
    }

    private StoredTrust(Fields fields) throws FormException {
        repository = fields.text("repository");
        if (!Identity.isRepositoryId(repository)) {
            throw FormException.ofField(STORED);
        }
        root = fields.text("root");
        lineage = new TreeMap<Long, Sha256>();
        for (Map.Entry<String, String> entry : texts(fields.object("lineage")).entrySet()) {
            Sha256 signed = Sha256.parse(entry.getValue());
            if (signed == null) {
                throw FormException.ofField(STORED);
            }
            lineage.put(version(entry.getKey()), signed);
        }
        floors = new TreeMap<String, Floor>();
        for (Map.Entry<String, JsonValue> floor : fields.object("floors").members().entrySet()) {
            floors.put(floor.getKey(), Floor.read(floor.getValue()));
        }
        timestamp = fields.optionalText("timestamp");
        snapshot = fields.optionalText("snapshot");
        targets = fields.optionalText("targets");
        roles = texts(fields.object("roles"));
    }

    private static Map<String, String> texts(Fields fields) throws FormException {
        Map<String, String> texts = new TreeMap<String, String>();
        for (String name : fields.members().keySet()) {
            texts.put(name, fields.text(name));
        }
        return texts;
    }

    private static long version(String text) throws FormException {
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException otherText) {
            throw FormException.ofField(STORED);
        }
    }

    /** Reads what {@link #toJson} wrote. After an error the phone begins with what the app carries. */
    public static StoredTrust parse(String json) throws FormException {
        return new StoredTrust(Fields.of(JsonReader.read(Utf8.encode(json), MAX_BYTES), STORED));
    }

    /** The JSON to keep. */
    public String toJson() {
        Map<String, JsonValue> floorValues = JsonValue.newMembers();
        for (Map.Entry<String, Floor> floor : floors.entrySet()) {
            floorValues.put(floor.getKey(), floor.getValue().toJson());
        }
        Map<String, JsonValue> members = JsonValue.newMembers();
        members.put("floors", JsonValue.object(floorValues));
        members.put("lineage", textValues(lineage));
        members.put("repository", JsonValue.of(repository));
        members.put("roles", textValues(roles));
        members.put("root", JsonValue.of(root));
        putText(members, "timestamp", timestamp);
        putText(members, "snapshot", snapshot);
        putText(members, "targets", targets);
        return JsonWriter.ascii(JsonValue.object(members));
    }

    private static void putText(Map<String, JsonValue> members, String name, String text) {
        if (text != null) {
            members.put(name, JsonValue.of(text));
        }
    }

    private static JsonValue textValues(Map<?, ?> texts) {
        Map<String, JsonValue> members = JsonValue.newMembers();
        for (Map.Entry<?, ?> entry : texts.entrySet()) {
            members.put(entry.getKey().toString(), JsonValue.of(entry.getValue().toString()));
        }
        return JsonValue.object(members);
    }
}
