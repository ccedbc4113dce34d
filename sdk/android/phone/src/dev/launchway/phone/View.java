/** What the commands print about a phone. */
package dev.launchway.phone;

import dev.launchway.core.boot.Content;
import dev.launchway.core.device.CheckAnswer;
import dev.launchway.core.device.Offer;
import dev.launchway.core.device.StartOutcome;
import dev.launchway.core.device.Status;
import dev.launchway.core.device.SyncOutcome;
import dev.launchway.core.json.JsonValue;
import dev.launchway.core.json.JsonWriter;
import dev.launchway.core.slots.Slots;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Locale;
import java.util.Map;

final class View {
    /** What people read, and the member that holds it. */
    private static final String[][] ROWS = {
        {"Outcome", "outcome"},
        {"Offer", "offer"},
        {"Runs", "runs"},
        {"Files", "folder"},
        {"On trial", "trial"},
        {"Last good", "lastGood"},
        {"Next", "next"},
        {"Quarantine", "quarantine"},
        {"Reports", "reports"},
        {"Device", "deviceId"},
    };

    private final Map<String, JsonValue> members = JsonValue.newMembers();

    View() {
        members.put("outcome", JsonValue.of(""));
        members.put("runs", JsonValue.of(""));
        members.put("folder", JsonValue.NULL);
        members.put("trial", JsonValue.of(false));
        members.put("lastGood", JsonValue.of(""));
        members.put("next", JsonValue.NULL);
        members.put("quarantine", JsonValue.texts(Collections.emptyList()));
        members.put("reports", JsonValue.of(0));
        members.put("deviceId", JsonValue.of(""));
    }

    private void outcome(String words) {
        members.put("outcome", JsonValue.of(words));
    }

    void started(StartOutcome started) {
        outcome(started.problem == null ? "started" : "started the embedded app: " + started.problem);
    }

    void answered(CheckAnswer answer) {
        switch (answer.kind) {
            case UPDATE:
                outcome("an update is available");
                members.put("offer", offer(answer.offer));
                break;
            case STORE_UPDATE_REQUIRED:
                outcome("a build from the store is required: " + answer.message);
                break;
            default:
                outcome(answer.message);
        }
    }

    private static JsonValue offer(Offer offer) {
        Map<String, JsonValue> members = JsonValue.newMembers();
        members.put("id", JsonValue.of(offer.id));
        members.put("version", JsonValue.of(offer.version));
        members.put("buildNumber", JsonValue.of(offer.buildNumber));
        members.put("size", JsonValue.of(offer.size));
        members.put("sha256", JsonValue.of(offer.sha256.toString()));
        return JsonValue.object(members);
    }

    void synced(SyncOutcome synced) {
        String id = synced.offer == null ? null : synced.offer.id;
        switch (synced.kind) {
            case NOTHING:
                outcome("no update");
                break;
            case STORE_UPDATE_REQUIRED:
                outcome("a build from the store is required: " + synced.reason);
                break;
            case STAGED:
                outcome("installed " + id);
                break;
            case DOWNLOADED:
                outcome("downloaded " + id);
                break;
            case SAME_BYTES:
                outcome("the files of " + id + " are already running");
                break;
            case QUARANTINED:
                outcome(id + " failed before and is in quarantine");
                break;
            default:
                outcome(id + " waits for an unmetered connection");
        }
    }

    void confirmed(boolean confirmed) {
        outcome(confirmed ? "confirmed" : "nothing to confirm");
    }

    void reported(int count) {
        outcome(count == 1 ? "sent 1 report" : "sent " + count + " reports");
    }

    /** Adds what is installed. {@code client} is the directory of the client. */
    void add(Status status, Path client) {
        Content running = status.attempt == null ? status.state.boot.current : status.attempt.content;
        members.put("runs", JsonValue.of(status.state.updateId(running)));
        if (!running.isEmbedded()) {
            members.put("folder", JsonValue.of(client.resolve(Slots.content(running.slot())).toString()));
        }
        members.put("trial", JsonValue.of(status.state.boot.trial));
        members.put("lastGood", JsonValue.of(status.state.updateId(status.state.boot.lastGood)));
        if (status.state.boot.next != null) {
            members.put("next", JsonValue.of(status.state.updateId(Content.of(status.state.boot.next))));
        }
        members.put("quarantine", JsonValue.texts(status.state.boot.quarantine));
        members.put("reports", JsonValue.of(status.reports));
        members.put("deviceId", JsonValue.of(status.state.deviceId));
    }

    String json() {
        return JsonWriter.plain(JsonValue.object(members)) + "\n";
    }

    /** The lines for people. */
    String prose() {
        StringBuilder lines = new StringBuilder();
        for (String[] row : ROWS) {
            String text = shown(members.get(row[1]));
            for (String line : text.isEmpty() ? new String[0] : text.split("\n")) {
                boolean isFirst = lines.indexOf(row[0]) < 0;
                lines.append(String.format(Locale.ROOT, "%-10s  %s%n", isFirst ? row[0] : "", line));
            }
        }
        return lines.toString();
    }

    private static String shown(JsonValue value) {
        if (value == null || value.isNull() || Boolean.FALSE.equals(value.asBoolean())) {
            return "";
        } else if (value.asText() != null) {
            return value.asText();
        } else if (value.asBoolean() != null) {
            return "yes";
        } else if (value.asObject() != null) {
            String version = value.get("version").asText() + " (" + value.get("buildNumber").asText() + ")";
            return version + ", " + value.get("id").asText();
        } else if (value.asArray() == null) {
            return value.toString();
        }
        StringBuilder lines = new StringBuilder();
        for (JsonValue item : value.asArray()) {
            lines.append(item.asText()).append('\n');
        }
        return lines.toString();
    }
}
