/** What runs. */
package dev.launchway.core.session;

import dev.launchway.core.json.JsonValue;
import java.util.Map;

public final class CurrentContent {
    /** Whether it is the content of the store binary. */
    public final boolean isEmbedded;
    /** The update's id, or `embedded:<build>`. */
    public final String updateId;
    public final String version;
    public final String buildNumber;
    /** Whether it still has to prove itself. */
    public final boolean isTrial;

    CurrentContent(boolean isEmbedded, String updateId, String version, String buildNumber, boolean isTrial) {
        this.isEmbedded = isEmbedded;
        this.updateId = updateId;
        this.version = version;
        this.buildNumber = buildNumber;
        this.isTrial = isTrial;
    }

    JsonValue toJson() {
        Map<String, JsonValue> members = JsonValue.newMembers();
        members.put("embedded", JsonValue.of(isEmbedded));
        members.put("updateId", JsonValue.of(updateId));
        members.put("version", JsonValue.of(version));
        members.put("buildNumber", JsonValue.of(buildNumber));
        members.put("trial", JsonValue.of(isTrial));
        return JsonValue.object(members);
    }
}
