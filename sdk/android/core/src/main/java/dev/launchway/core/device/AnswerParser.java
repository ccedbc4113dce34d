/** Reads the server's answer to a check. Whatever is not of the right form is refused (`docs/reference/sdk.md#answers`). */
package dev.launchway.core.device;

import dev.launchway.core.digest.Sha256;
import dev.launchway.core.json.JsonValue;
import dev.launchway.core.storage.ReportToken;
import dev.launchway.core.versions.BuildNumber;
import dev.launchway.core.versions.Version;

final class AnswerParser {
    /** The most bytes of a package. */
    private static final long MAX_PACKAGE = 512L << 20;

    private final JsonValue answer;
    private final String runningId;

    AnswerParser(JsonValue answer, String runningId) {
        this.answer = answer;
        this.runningId = runningId;
    }

    CheckAnswer parse() throws CheckException {
        if (!flag("updateAvailable")) {
            String message = textOrEmpty("message");
            return new CheckAnswer(CheckAnswer.Kind.NOTHING, null, message, token(runningId), announced());
        }
        if (flag("requiresStoreUpdate")) {
            String reason = textOrEmpty("compatibilityReason");
            ReportToken token = token(textOrNull("id"));
            return new CheckAnswer(CheckAnswer.Kind.STORE_UPDATE_REQUIRED, null, reason, token, announced());
        }
        Offer offer = offer();
        return new CheckAnswer(CheckAnswer.Kind.UPDATE, offer, "", token(offer.id), announced());
    }

    private ReportToken token(String updateId) {
        String token = textOrNull("reportToken");
        return token == null || updateId == null ? null : new ReportToken(updateId, token);
    }

    private AnnouncedVersions announced() {
        JsonValue trust = answer.get("trust");
        Long root = trust == null ? null : count(trust.get("root"));
        Long snapshot = trust == null ? null : count(trust.get("snapshot"));
        return root == null || snapshot == null ? null : new AnnouncedVersions(root, snapshot);
    }

    private Offer offer() throws CheckException {
        if (!text("platform").equals(Settings.PLATFORM)) {
            throw CheckException.malformed("platform differs");
        }
        Long size = count(answer.get("size"));
        if (size == null || size < 1 || size > MAX_PACKAGE) {
            throw CheckException.malformed("size");
        }
        JsonValue manifest = answer.get("manifest");
        String version = text("version");
        if (Version.parse(version) == null) {
            throw CheckException.malformed("version is not a version");
        }
        String buildNumber = text("buildNumber");
        if (BuildNumber.parse(buildNumber) == null) {
            throw CheckException.malformed("buildNumber is not a number");
        }
        String url = text("url");
        if (!url.startsWith("https://") && !url.startsWith("http://")) {
            throw CheckException.malformed("url is not an address");
        }
        JsonValue mandatory = answer.get("mandatory");
        return new Offer(
                text("id"),
                version,
                buildNumber,
                url,
                digest("sha256"),
                size,
                manifest == null || manifest.isNull() ? null : digest("manifest"),
                mandatory != null && Boolean.TRUE.equals(mandatory.asBoolean()),
                textOrEmpty("releaseNotes"));
    }

    private boolean flag(String name) throws CheckException {
        JsonValue value = answer.get(name);
        if (value == null || value.asBoolean() == null) {
            throw CheckException.malformed(name + " is missing");
        }
        return value.asBoolean();
    }

    private Sha256 digest(String name) throws CheckException {
        Sha256 digest = Sha256.parse(text(name));
        if (digest == null) {
            throw CheckException.malformed(name + " is not a digest");
        }
        return digest;
    }

    private String text(String name) throws CheckException {
        String text = textOrNull(name);
        if (text == null) {
            throw CheckException.malformed(name + " is missing");
        }
        return text;
    }

    private String textOrEmpty(String name) {
        String text = textOrNull(name);
        return text == null ? "" : text;
    }

    private String textOrNull(String name) {
        JsonValue value = answer.get(name);
        return value == null ? null : value.asText();
    }

    private static Long count(JsonValue value) {
        Long number = value == null ? null : value.asInteger();
        return number == null || number < 0 ? null : number;
    }
}
