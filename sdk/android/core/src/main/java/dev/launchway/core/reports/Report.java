/** Something that happened on a device, for the server. */
package dev.launchway.core.reports;

import dev.launchway.core.json.Fields;
import dev.launchway.core.json.FormException;
import dev.launchway.core.json.JsonValue;
import dev.launchway.core.text.IsoTime;
import dev.launchway.core.text.Utf8;
import java.util.Map;

public final class Report {
    /** The most characters of a reason. */
    private static final int MAX_REASON = 200;
    /** The most bytes of a crash's stack. */
    private static final int MAX_STACK = 8 << 10;

    /** `downloaded`, `installed`, `confirmed`, `rolled_back`, `failed` or `crash`. */
    public final String type;
    /** The update, or `embedded:<build>`. */
    public final String updateId;
    /** When it happened, in milliseconds since 1970. */
    public final long at;
    /** Why; null where nothing needs an explanation. */
    public final String reason;
    /** Where it crashed; null where that is not known. */
    public final String stack;

    /** Long reasons and stacks are cut. */
    public Report(String type, String updateId, long at, String reason, String stack) {
        this.type = type;
        this.updateId = updateId;
        this.at = at;
        this.reason = reason == null ? null : cutReason(reason);
        this.stack = stack == null ? null : cutBytes(stack, MAX_STACK);
    }

    /** The reason without NULs and with at most 200 characters. */
    public static String cutReason(String reason) {
        String text = reason.replace("\0", "");
        boolean isShort = text.codePointCount(0, text.length()) <= MAX_REASON;
        return isShort ? text : text.substring(0, text.offsetByCodePoints(0, MAX_REASON));
    }

    /** The text without NULs and with at most {@code max} bytes, cut between characters. */
    private static String cutBytes(String text, int max) {
        StringBuilder kept = new StringBuilder();
        int bytes = 0;
        // An endless stack is not encoded as a whole.
        for (int at = 0; at < text.length(); ) {
            int character = text.codePointAt(at);
            at += Character.charCount(character);
            if (character == 0) {
                continue;
            }
            bytes += Utf8.encode(new String(Character.toChars(character))).length;
            if (bytes > max) {
                break;
            }
            kept.appendCodePoint(character);
        }
        return kept.toString();
    }

    JsonValue toJson() {
        Map<String, JsonValue> members = JsonValue.newMembers();
        members.put("type", JsonValue.of(type));
        members.put("updateId", JsonValue.of(updateId));
        members.put("at", JsonValue.of(IsoTime.write(at)));
        if (reason != null) {
            members.put("reason", JsonValue.of(reason));
        }
        if (stack != null) {
            members.put("stack", JsonValue.of(stack));
        }
        return JsonValue.object(members);
    }

    static Report fromJson(JsonValue json) throws FormException {
        Fields fields = Fields.of(json, "report");
        long at = IsoTime.read(fields.text("at"));
        if (at < 0) {
            throw FormException.ofField("at");
        }
        return new Report(
                fields.text("type"),
                fields.text("updateId"),
                at,
                fields.optionalText("reason"),
                fields.optionalText("stack"));
    }

    /** Whether the server counts both as one. */
    boolean isSameAs(Report other) {
        return type.equals(other.type) && updateId.equals(other.updateId);
    }
}
