/**
 * A file of metadata as it was received: who signed it, and what it says (docs/reference/trust.md#metadata). Nothing in it
 * is trusted before {@link Authority} verified its signatures.
 */
package dev.launchway.core.trust.metadata;

import dev.launchway.core.json.Fields;
import dev.launchway.core.json.FormException;
import dev.launchway.core.json.JsonReader;
import dev.launchway.core.json.JsonValue;
import dev.launchway.core.json.JsonWriter;
import dev.launchway.core.text.Hex;
import dev.launchway.core.text.Utf8;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

public final class Metadata<T> {
    /** The file as it was received: this is what is stored and hashed. */
    public final String text;
    /** Counts up with every change. */
    public final long version;
    /** When the file expires, in milliseconds since 1970. */
    public final long expires;
    /** The repository and app it belongs to; null where it names none. */
    public final Identity identity;
    /** What files of this type say. */
    public final T body;

    private final byte[] message;
    private final Map<String, byte[]> signatures;

    private Metadata(String text, JsonValue signed, Map<String, byte[]> signatures, MetadataType<T> type)
            throws FormException {
        this.text = text;
        this.signatures = signatures;
        // Written from everything that was parsed, unknown fields included, so that what is verified is what is used.
        message = JsonWriter.canonical(signed);
        Fields fields = Fields.of(signed, "signed");
        if (!fields.text("_type").equals(type.name)) {
            throw FormException.ofField("_type");
        }
        if (!isSpecVersion1(fields.text("spec_version"))) {
            throw FormException.ofField("spec_version");
        }
        version = fields.positive("version");
        Long time = MetadataTime.parse(fields.text("expires"));
        if (time == null) {
            throw FormException.ofField("expires");
        }
        expires = time;
        identity = Identity.read(fields);
        body = type.read(fields);
    }

    public static <T> Metadata<T> parse(byte[] bytes, MetadataType<T> type) throws FormException {
        Fields file = Fields.of(JsonReader.read(bytes, type.limit), "signed");
        Map<String, byte[]> signatures = readSignatures(file.array("signatures"));
        return new Metadata<T>(Utf8.decode(bytes), file.value("signed"), signatures, type);
    }

    /** Signatures that are not lower-case hexadecimal digits never count, and do not invalidate the file. */
    private static Map<String, byte[]> readSignatures(List<JsonValue> items) throws FormException {
        Set<String> ids = new TreeSet<String>();
        Map<String, byte[]> signatures = new TreeMap<String, byte[]>();
        for (JsonValue item : items) {
            Fields fields = Fields.of(item, "signatures");
            String keyId = fields.text("keyid");
            if (!ids.add(keyId)) {
                throw FormException.ofField("signatures");
            }
            byte[] signature = Hex.decode(fields.text("sig"));
            if (signature != null) {
                signatures.put(keyId, signature);
            }
        }
        return Collections.unmodifiableMap(signatures);
    }

    /** Whether the text is `1.` and numbers with dots between them. */
    private static boolean isSpecVersion1(String text) {
        if (!text.startsWith("1.") || text.endsWith(".") || text.contains("..")) {
            return false;
        }
        for (int at = 0; at < text.length(); at++) {
            if ("0123456789.".indexOf(text.charAt(at)) < 0) {
                return false;
            }
        }
        return true;
    }

    /** The canonical form of `signed`, over which signatures are made. */
    public byte[] message() {
        return message.clone();
    }

    public boolean isExpired(long now) {
        return expires <= now;
    }

    /** The readable signatures by the key id that they name. */
    Map<String, byte[]> signatures() {
        return signatures;
    }
}
