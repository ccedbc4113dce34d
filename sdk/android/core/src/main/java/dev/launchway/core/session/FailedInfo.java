/** An update that failed on this binary. */
package dev.launchway.core.session;

import dev.launchway.core.json.JsonValue;
import java.util.Map;

public final class FailedInfo {
    public final UpdateInfo update;
    /** Why it failed. */
    public final String reason;

    FailedInfo(UpdateInfo update, String reason) {
        this.update = update;
        this.reason = reason;
    }

    /** The JSON of a failure, or of none. */
    static JsonValue toJson(FailedInfo failed) {
        Map<String, JsonValue> members = JsonValue.newMembers();
        members.put("update", UpdateInfo.toJson(failed == null ? null : failed.update));
        members.put("reason", failed == null ? JsonValue.NULL : JsonValue.of(failed.reason));
        return JsonValue.object(members);
    }
}
