/** A target: fetched under the name of a hash, checked, and kept under its own name. */
package dev.launchway.core.trust;

import dev.launchway.core.json.JsonValue;
import dev.launchway.core.text.Hex;
import dev.launchway.core.text.PercentEncoding;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Map;

final class ConformanceTarget {
    /** Targets of the suite are small. */
    private static final long LIMIT = 64 << 20;

    private final String name;
    private final long length;
    private final Map<String, JsonValue> hashes;

    ConformanceTarget(String name, JsonValue target) {
        this.name = name;
        this.length = target.get("length").asInteger();
        this.hashes = target.get("hashes").asObject();
    }

    /** Fetches the target, unless its file is there already. */
    void download(String base, Path folder) throws IOException, GeneralSecurityException {
        Path path = folder.resolve(PercentEncoding.encode(name));
        if (Files.exists(path) && isSigned(Files.readAllBytes(path))) {
            return;
        }
        if (length > LIMIT) {
            throw new IOException(name + " is longer than " + LIMIT + " bytes");
        }
        int slash = name.lastIndexOf('/');
        StringBuilder remote = new StringBuilder();
        for (String part : slash < 0 ? new String[0] : name.substring(0, slash).split("/", -1)) {
            remote.append(PercentEncoding.encode(part)).append('/');
        }
        String hash = hashes.values().iterator().next().asText();
        remote.append(hash).append('.').append(PercentEncoding.encode(name.substring(slash + 1)));
        byte[] bytes = new ConformanceServer(base).get(remote.toString(), (int) length);
        if (bytes == null || !isSigned(bytes)) {
            throw new IOException(remote + " is missing or not what was signed");
        }
        Files.write(path, bytes);
    }

    /** Every hash of a known algorithm must fit, and there must be one. */
    private boolean isSigned(byte[] bytes) throws GeneralSecurityException {
        boolean fits = bytes.length == length;
        int known = 0;
        String[][] algorithms = {{"sha256", "SHA-256"}, {"sha512", "SHA-512"}};
        for (String[] algorithm : algorithms) {
            JsonValue hash = hashes.get(algorithm[0]);
            if (hash != null) {
                known++;
                byte[] found = MessageDigest.getInstance(algorithm[1]).digest(bytes);
                fits = fits && Hex.encode(found).equals(hash.asText());
            }
        }
        return fits && known > 0;
    }
}
