/** The life of an app, step by step, as a trace of `sdk/vectors/boot-traces.json` tells it. */
package dev.launchway.core.boot;

import dev.launchway.core.digest.Sha256;
import dev.launchway.core.json.JsonValue;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;

final class TracedApp {
    private BootState state = new BootState(binary("1"));
    private Attempt attempt;
    /** Whether what runs is the stored attempt. */
    private boolean recorded = true;

    /** Executes a step. Returns what the app answers; null for steps without an answer. */
    JsonValue apply(JsonValue step) throws IOException {
        String name = step.get("do").asText();
        if (name.equals("start")) {
            return start(step);
        } else if (name.equals("stage")) {
            state.stage(slot(step.get("slot").asText()));
        } else if (name.equals("reset")) {
            state.reset();
        } else if (name.equals("confirm")) {
            Map<String, JsonValue> answer = JsonValue.newMembers();
            answer.put("confirmed", JsonValue.of(attempt != null && state.confirm(attempt, recorded) != null));
            return JsonValue.object(answer);
        } else {
            mark(name);
        }
        return null;
    }

    private void mark(String name) {
        if (attempt == null || !recorded) {
            return;
        }
        if (name.equals("foreground")) {
            attempt.enterForeground();
        } else if (name.equals("background")) {
            attempt.leaveForeground();
        } else if (name.equals("crash")) {
            attempt.crashed = true;
        } else if (name.equals("hang")) {
            attempt.hung = true;
        } else if (name.equals("settle")) {
            attempt.settled = true;
        } else {
            throw new IllegalArgumentException("a trace has an unknown step `" + name + "`");
        }
    }

    private JsonValue start(JsonValue step) throws IOException {
        String binary = step.get("binary") == null ? "1" : step.get("binary").asText();
        boolean window = step.get("window") == null || step.get("window").asBoolean();
        String ending = step.get("ending") == null ? "unexplained" : step.get("ending").asText();
        StartFacts facts = new StartFacts(binary(binary), window, ending(ending), packages(step));
        Decision decision = BootMachine.decide(state, attempt, facts);
        String fails = step.get("fails") == null ? "" : step.get("fails").asText();
        recorded = fails.isEmpty();
        if (!fails.equals("state")) {
            state = decision.state;
        }
        if (recorded) {
            attempt = decision.attempt;
        }
        return answer(decision);
    }

    private static StartFacts.Packages packages(final JsonValue step) {
        return new StartFacts.Packages() {
            @Override
            public boolean isRevoked(Sha256 slot) {
                JsonValue revoked = step.get("revoked");
                return revoked != null && revoked.asArray().contains(JsonValue.of(name(slot)));
            }

            @Override
            public Soundness soundness(Sha256 slot, boolean first) {
                JsonValue unsound = step.get("unsound");
                JsonValue fault = unsound == null ? null : unsound.get(name(slot));
                if (fault == null) {
                    return Soundness.SOUND;
                }
                Soundness found = Soundness.valueOf(fault.asText().toUpperCase(Locale.ROOT));
                return found == Soundness.DAMAGED && !first ? Soundness.SOUND : found;
            }
        };
    }

    private JsonValue answer(Decision decision) {
        List<JsonValue> events = new ArrayList<JsonValue>();
        for (BootEvent event : decision.events) {
            Map<String, JsonValue> members = JsonValue.newMembers();
            members.put("type", JsonValue.of(event.kind.code()));
            members.put("content", name(event.content));
            if (event.reason != null) {
                members.put("reason", JsonValue.of(event.reason.code()));
            }
            events.add(JsonValue.object(members));
        }
        Map<String, JsonValue> answer = JsonValue.newMembers();
        answer.put("run", name(recorded ? decision.attempt.content : decision.unwritten));
        answer.put("unwritten", name(decision.unwritten));
        answer.put("events", JsonValue.array(events));
        answer.put("state", answer(state));
        return JsonValue.object(answer);
    }

    private static JsonValue answer(BootState state) {
        List<JsonValue> quarantine = new ArrayList<JsonValue>();
        for (Sha256 slot : state.quarantine) {
            quarantine.add(JsonValue.of(name(slot)));
        }
        Map<String, JsonValue> members = JsonValue.newMembers();
        members.put("current", name(state.current));
        members.put("trial", JsonValue.of(state.trial));
        members.put("lastGood", name(state.lastGood));
        members.put("next", state.next == null ? JsonValue.NULL : JsonValue.of(name(state.next)));
        members.put("quarantine", JsonValue.array(quarantine));
        members.put("hard", JsonValue.of(state.hard));
        members.put("soft", JsonValue.of(state.soft));
        members.put("earlyCrashes", JsonValue.of(state.earlyCrashes));
        return JsonValue.object(members);
    }

    private static Binary binary(String code) {
        return new Binary(code, "", 0);
    }

    private static Ending ending(String code) {
        for (Ending ending : Ending.values()) {
            if (ending.code().equals(code)) {
                return ending;
            }
        }
        throw new IllegalArgumentException("a trace has an unknown ending `" + code + "`");
    }

    /** A digest whose bytes are all the letter of the slot. */
    private static Sha256 slot(String name) {
        byte[] bytes = new byte[32];
        Arrays.fill(bytes, (byte) name.charAt(0));
        return Sha256.fromBytes(bytes);
    }

    private static String name(Sha256 slot) {
        return String.valueOf((char) Integer.parseInt(slot.toString().substring(0, 2), 16));
    }

    private static JsonValue name(Content content) {
        return JsonValue.of(content.isEmbedded() ? content.toString() : name(content.slot()));
    }
}
