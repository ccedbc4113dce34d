/** Something that the app may want to know. */
package dev.launchway.core.session;

import dev.launchway.core.json.JsonValue;
import java.util.Map;

public final class Event {
    public enum Type {
        UPDATE_AVAILABLE("updateAvailable"),
        NO_UPDATE_AVAILABLE("noUpdateAvailable"),
        STORE_UPDATE_REQUIRED("storeUpdateRequired"),
        DOWNLOAD_PROGRESS("downloadProgress"),
        DOWNLOAD_COMPLETE("downloadComplete"),
        DOWNLOAD_FAILED("downloadFailed"),
        /** The next start tries the update. */
        NEXT_SET("nextSet"),
        /** Other content runs than before. */
        UPDATE_APPLIED("updateApplied"),
        /** What runs has proved itself. */
        APP_READY("appReady"),
        /** An installed update could not be used. */
        UPDATE_FAILED("updateFailed"),
        ROLLED_BACK("rolledBack");

        private final String code;

        Type(String code) {
            this.code = code;
        }

        /** The name in every language. */
        public String code() {
            return code;
        }

        /** Whether it happens before the app can listen, and waits for the first listener. */
        boolean waits() {
            return this == UPDATE_APPLIED || this == UPDATE_FAILED || this == ROLLED_BACK;
        }
    }

    public final Type type;
    /** The update; null for the embedded content, and where the event is about none. */
    public final UpdateInfo update;
    /** Why; null where nothing needs an explanation. For a failed download it is the error's message. */
    public final String reason;
    /** The code of a failed download; null otherwise. */
    public final ErrorCode code;
    /** The bytes of a download that have arrived. */
    public final long received;

    private Event(Type type, UpdateInfo update, String reason, ErrorCode code, long received) {
        this.type = type;
        this.update = update;
        this.reason = reason;
        this.code = code;
        this.received = received;
    }

    static Event of(Type type, UpdateInfo update) {
        return new Event(type, update, null, null, 0);
    }

    static Event because(Type type, UpdateInfo update, String reason) {
        return new Event(type, update, reason, null, 0);
    }

    static Event downloadFailed(UpdateInfo update, SessionException failure) {
        return new Event(Type.DOWNLOAD_FAILED, update, failure.getMessage(), failure.code, 0);
    }

    static Event progress(UpdateInfo update, long received) {
        return new Event(Type.DOWNLOAD_PROGRESS, update, null, null, received);
    }

    JsonValue payload() {
        Map<String, JsonValue> members = JsonValue.newMembers();
        switch (type) {
            case NO_UPDATE_AVAILABLE:
                break;
            case STORE_UPDATE_REQUIRED:
                members.put("reason", JsonValue.of(reason));
                break;
            case DOWNLOAD_PROGRESS:
                members.put("id", JsonValue.of(update.id));
                members.put("received", JsonValue.of(received));
                members.put("total", JsonValue.of(update.size));
                break;
            case DOWNLOAD_FAILED:
                members.put("update", update.toJson());
                members.put("code", JsonValue.of(code.code()));
                members.put("message", JsonValue.of(reason));
                break;
            default:
                members.put("update", UpdateInfo.toJson(update));
                if (reason != null) {
                    members.put("reason", JsonValue.of(reason));
                }
        }
        return JsonValue.object(members);
    }
}
