/** What one file of metadata says about another: its version, and sometimes its length and hashes. */
package dev.launchway.core.trust.metadata;

import dev.launchway.core.digest.Sha256;
import dev.launchway.core.json.Fields;
import dev.launchway.core.json.FormException;
import dev.launchway.core.json.JsonValue;
import dev.launchway.core.text.Utf8;
import java.util.Map;

public final class MetaFile {
    private static final long UNKNOWN = -1;

    public final long version;

    private final long length;
    private final boolean hashed;
    /** The SHA-256 that is listed; null if there is none. */
    private final String sha256;

    MetaFile(JsonValue value) throws FormException {
        Fields fields = Fields.of(value, "meta");
        version = fields.positive("version");
        length = fields.has("length") ? fields.count("length") : UNKNOWN;
        hashed = fields.has("hashes");
        sha256 = hashed ? readSha256(fields) : null;
    }

    /** Reads the field `hashes`: at least one, each a text. Returns the SHA-256, or null without one. */
    static String readSha256(Fields fields) throws FormException {
        Map<String, JsonValue> hashes = fields.object("hashes").members();
        for (JsonValue hash : hashes.values()) {
            if (hash.asText() == null) {
                throw FormException.ofField("hashes");
            }
        }
        if (hashes.isEmpty()) {
            throw FormException.ofField("hashes");
        }
        JsonValue hash = hashes.get("sha256");
        return hash == null ? null : hash.asText();
    }

    /** Whether the bytes have the length and hash that are listed. */
    public boolean isOf(byte[] bytes) {
        boolean lengthHolds = length == UNKNOWN || length == bytes.length;
        return lengthHolds && (!hashed || Sha256.of(bytes).toString().equals(sha256));
    }

    /** Whether this is the file that is listed. */
    public boolean isOf(Metadata<?> file) {
        return file.version == version && isOf(Utf8.encode(file.text));
    }
}
