/** What a round with the server came to. */
package dev.launchway.core.session;

import dev.launchway.core.device.SyncOutcome;
import dev.launchway.core.json.JsonValue;
import java.util.Map;

public final class RoundResult {
    public enum Status {
        /** There is no update. */
        NONE("none"),
        /** There is an update, which a check does not download. */
        AVAILABLE("available"),
        /** The update is installed, and runs when the app chooses it. */
        DOWNLOADED("downloaded"),
        /** The next start tries the update. */
        STAGED("staged"),
        /** What runs is this update. */
        CURRENT("current"),
        /** The update failed before on this binary. */
        QUARANTINED("quarantined"),
        WAITS_FOR_WIFI("waitsForWifi"),
        /** There is an update that needs a new store binary. */
        STORE_UPDATE_REQUIRED("storeUpdateRequired");

        private final String code;

        Status(String code) {
            this.code = code;
        }

        /** The name in every language. */
        public String code() {
            return code;
        }
    }

    public final Status status;
    /** The update; null where there is none to install. */
    public final UpdateInfo update;
    /** Why a new store binary is needed; empty otherwise. */
    public final String reason;

    RoundResult(Status status, UpdateInfo update, String reason) {
        this.status = status;
        this.update = update;
        this.reason = reason;
    }

    static RoundResult of(SyncOutcome outcome) {
        UpdateInfo update = outcome.offer == null ? null : UpdateInfo.of(outcome.offer);
        return new RoundResult(status(outcome.kind), update, outcome.reason);
    }

    private static Status status(SyncOutcome.Kind kind) {
        switch (kind) {
            case NOTHING:
                return Status.NONE;
            case STORE_UPDATE_REQUIRED:
                return Status.STORE_UPDATE_REQUIRED;
            case STAGED:
                return Status.STAGED;
            case DOWNLOADED:
                return Status.DOWNLOADED;
            case SAME_BYTES:
                return Status.CURRENT;
            case QUARANTINED:
                return Status.QUARANTINED;
            default:
                return Status.WAITS_FOR_WIFI;
        }
    }

    JsonValue toJson() {
        Map<String, JsonValue> members = JsonValue.newMembers();
        members.put("status", JsonValue.of(status.code()));
        if (update != null) {
            members.put("update", update.toJson());
        }
        if (status == Status.STORE_UPDATE_REQUIRED) {
            members.put("reason", JsonValue.of(reason));
        }
        return JsonValue.object(members);
    }
}
