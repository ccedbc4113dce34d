/** One target: the package that was signed under a path. */
package dev.launchway.core.trust.metadata;

import dev.launchway.core.digest.Sha256;
import dev.launchway.core.json.Fields;
import dev.launchway.core.json.FormException;
import dev.launchway.core.json.JsonValue;

public final class Target {
    /** The length in bytes. */
    public final long length;
    /** The SHA-256; null if none was signed. */
    public final Sha256 sha256;
    /** What the application says about it; null if that is nothing. */
    public final JsonValue custom;

    Target(JsonValue value) throws FormException {
        Fields fields = Fields.of(value, "targets");
        length = fields.count("length");
        String hash = MetaFile.readSha256(fields);
        sha256 = hash == null ? null : Sha256.parse(hash);
        custom = fields.members().get("custom");
    }
}
