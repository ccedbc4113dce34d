/** The JSON of `state.json`. Unknown members are ignored; a missing or wrong one makes the file corrupt. */
package dev.launchway.core.storage;

import dev.launchway.core.boot.Binary;
import dev.launchway.core.boot.BootState;
import dev.launchway.core.digest.Sha256;
import dev.launchway.core.json.Fields;
import dev.launchway.core.json.FormException;
import dev.launchway.core.json.JsonValue;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

final class StateJson {
    /** The most that a counter of failures may hold. */
    private static final long MAX_FAILURES = 0xffff_ffffL;

    private StateJson() {}

    static JsonValue write(State state) {
        BootState boot = state.boot;
        Map<String, JsonValue> members = JsonValue.newMembers();
        members.put("form", JsonValue.of(StateFiles.FORM));
        members.put("deviceId", JsonValue.of(state.deviceId));
        members.put("binary", write(boot.binary));
        members.put("current", StateFiles.write(boot.current));
        members.put("trial", JsonValue.of(boot.trial));
        members.put("lastGood", StateFiles.write(boot.lastGood));
        members.put("next", boot.next == null ? JsonValue.NULL : JsonValue.of(boot.next.toString()));
        members.put("quarantine", JsonValue.texts(boot.quarantine));
        members.put("hard", JsonValue.of(boot.hard));
        members.put("soft", JsonValue.of(boot.soft));
        members.put("earlyCrashes", JsonValue.of(boot.earlyCrashes));
        members.put("judged", JsonValue.of(boot.judged));
        List<JsonValue> slots = new ArrayList<JsonValue>();
        for (SlotRecord slot : state.slots) {
            slots.add(write(slot));
        }
        members.put("slots", JsonValue.array(slots));
        List<JsonValue> tokens = new ArrayList<JsonValue>();
        for (ReportToken token : state.tokens) {
            tokens.add(write(token));
        }
        members.put("tokens", JsonValue.array(tokens));
        members.put("trust", state.trust == null ? JsonValue.NULL : write(state.trust));
        members.put("failed", state.failed == null ? JsonValue.NULL : write(state.failed));
        return JsonValue.object(members);
    }

    static State read(Fields fields) throws FormException {
        State state = new State(readBoot(fields), fields.text("deviceId"));
        for (JsonValue slot : fields.array("slots")) {
            state.slots.add(readSlot(Fields.of(slot, "slots")));
        }
        for (JsonValue value : fields.array("tokens")) {
            Fields token = Fields.of(value, "tokens");
            state.tokens.add(new ReportToken(token.text("updateId"), token.text("token")));
        }
        if (!fields.value("trust").isNull()) {
            Fields trust = fields.object("trust");
            state.trust = new TrustRecord(trust.count("refreshedAt"), trust.text("stored"));
        }
        // Earlier versions of the client do not write it.
        if (fields.has("failed") && !fields.value("failed").isNull()) {
            state.failed = readFailed(fields.object("failed"));
        }
        return state;
    }

    private static BootState readBoot(Fields fields) throws FormException {
        Fields binary = fields.object("binary");
        BootState boot =
                new BootState(new Binary(binary.text("code"), binary.text("name"), binary.count("installedAt")));
        boot.current = StateFiles.readContent(fields, "current");
        boot.trial = fields.bool("trial");
        boot.lastGood = StateFiles.readContent(fields, "lastGood");
        boot.next = fields.value("next").isNull() ? null : digest(fields.text("next"), "next");
        for (String slot : fields.texts("quarantine")) {
            boot.quarantine.add(digest(slot, "quarantine"));
        }
        boot.hard = StateFiles.count(fields, "hard", MAX_FAILURES);
        boot.soft = StateFiles.count(fields, "soft", MAX_FAILURES);
        boot.earlyCrashes = StateFiles.count(fields, "earlyCrashes", MAX_FAILURES);
        boot.judged = StateFiles.count(fields, "judged", StateFiles.MAX_ATTEMPTS);
        return boot;
    }

    private static SlotRecord readSlot(Fields slot) throws FormException {
        return new SlotRecord(
                digest(slot.text("id"), "id"),
                slot.text("updateId"),
                slot.text("version"),
                slot.text("buildNumber"),
                digest(slot.text("manifest"), "manifest"));
    }

    private static FailedUpdate readFailed(Fields failed) throws FormException {
        return new FailedUpdate(
                failed.text("updateId"),
                failed.text("version"),
                failed.text("buildNumber"),
                digest(failed.text("sha256"), "failed"),
                failed.text("reason"));
    }

    private static Sha256 digest(String text, String field) throws FormException {
        Sha256 digest = Sha256.parse(text);
        if (digest == null) {
            throw FormException.ofField(field);
        }
        return digest;
    }

    private static JsonValue write(Binary binary) {
        Map<String, JsonValue> members = JsonValue.newMembers();
        members.put("code", JsonValue.of(binary.code));
        members.put("name", JsonValue.of(binary.name));
        members.put("installedAt", JsonValue.of(binary.installedAt));
        return JsonValue.object(members);
    }

    private static JsonValue write(SlotRecord slot) {
        Map<String, JsonValue> members = JsonValue.newMembers();
        members.put("id", JsonValue.of(slot.id.toString()));
        members.put("updateId", JsonValue.of(slot.updateId));
        members.put("version", JsonValue.of(slot.version));
        members.put("buildNumber", JsonValue.of(slot.buildNumber));
        members.put("manifest", JsonValue.of(slot.manifest.toString()));
        return JsonValue.object(members);
    }

    private static JsonValue write(ReportToken token) {
        Map<String, JsonValue> members = JsonValue.newMembers();
        members.put("updateId", JsonValue.of(token.updateId));
        members.put("token", JsonValue.of(token.token));
        return JsonValue.object(members);
    }

    private static JsonValue write(TrustRecord trust) {
        Map<String, JsonValue> members = JsonValue.newMembers();
        members.put("refreshedAt", JsonValue.of(trust.refreshedAt));
        members.put("stored", JsonValue.of(trust.stored));
        return JsonValue.object(members);
    }

    private static JsonValue write(FailedUpdate failed) {
        Map<String, JsonValue> members = JsonValue.newMembers();
        members.put("updateId", JsonValue.of(failed.updateId));
        members.put("version", JsonValue.of(failed.version));
        members.put("buildNumber", JsonValue.of(failed.buildNumber));
        members.put("sha256", JsonValue.of(failed.sha256.toString()));
        members.put("reason", JsonValue.of(failed.reason));
        return JsonValue.object(members);
    }
}
