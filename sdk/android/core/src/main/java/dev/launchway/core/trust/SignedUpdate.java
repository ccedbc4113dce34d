/** What was signed about an update beside the hash and length of its package (docs/reference/trust.md#targets). */
package dev.launchway.core.trust;

import dev.launchway.core.digest.Sha256;
import dev.launchway.core.json.Fields;
import dev.launchway.core.json.FormException;
import dev.launchway.core.trust.metadata.Target;
import dev.launchway.core.versions.BuildNumber;
import dev.launchway.core.versions.Version;

public final class SignedUpdate {
    public final Version version;
    public final long build;
    /** The native app that it is for; null: every one. */
    public final String fingerprint;
    /** The digest of the list of files in the package. */
    public final Sha256 manifest;

    /** Reads the field `custom` of a target. */
    SignedUpdate(Target target) throws FormException {
        if (target.custom == null) {
            throw FormException.ofField("custom");
        }
        Fields fields = Fields.of(target.custom, "custom");
        version = Version.parse(fields.text("version"));
        Long number = BuildNumber.parse(fields.text("buildNumber"));
        fingerprint = fields.optionalText("fingerprint");
        manifest = Sha256.parse(fields.text("manifest"));
        if (version == null || number == null || manifest == null) {
            throw FormException.ofField("custom");
        }
        build = number;
    }
}
