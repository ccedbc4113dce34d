/** An update, as the app sees it. */
package dev.launchway.core.session;

import dev.launchway.core.device.Offer;
import dev.launchway.core.json.JsonValue;
import dev.launchway.core.storage.FailedUpdate;
import dev.launchway.core.storage.SlotRecord;
import java.util.Map;

public final class UpdateInfo {
    public final String id;
    public final String version;
    public final String buildNumber;
    /** The SHA-256 of its package, in hexadecimal. */
    public final String sha256;
    /** The bytes of its package; -1 where that is not known. */
    public final long size;

    UpdateInfo(String id, String version, String buildNumber, String sha256, long size) {
        this.id = id;
        this.version = version;
        this.buildNumber = buildNumber;
        this.sha256 = sha256;
        this.size = size;
    }

    static UpdateInfo of(Offer offer) {
        String sha256 = offer.sha256.toString();
        return new UpdateInfo(offer.id, offer.version, offer.buildNumber, sha256, offer.size);
    }

    static UpdateInfo of(SlotRecord slot) {
        return new UpdateInfo(slot.updateId, slot.version, slot.buildNumber, slot.id.toString(), -1);
    }

    static UpdateInfo of(FailedUpdate failed) {
        String sha256 = failed.sha256.toString();
        return new UpdateInfo(failed.updateId, failed.version, failed.buildNumber, sha256, -1);
    }

    JsonValue toJson() {
        Map<String, JsonValue> members = JsonValue.newMembers();
        members.put("id", JsonValue.of(id));
        members.put("version", JsonValue.of(version));
        members.put("buildNumber", JsonValue.of(buildNumber));
        members.put("sha256", JsonValue.of(sha256));
        if (size >= 0) {
            members.put("size", JsonValue.of(size));
        }
        return JsonValue.object(members);
    }

    /** The JSON of an update, or null where there is none. */
    static JsonValue toJson(UpdateInfo update) {
        return update == null ? JsonValue.NULL : update.toJson();
    }
}
