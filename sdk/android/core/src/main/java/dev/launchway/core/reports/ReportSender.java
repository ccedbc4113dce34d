/** Sends the reports that wait, with the newest token of each update. */
package dev.launchway.core.reports;

import dev.launchway.core.json.JsonValue;
import dev.launchway.core.json.JsonWriter;
import dev.launchway.core.net.Network;
import dev.launchway.core.net.Request;
import dev.launchway.core.net.Response;
import dev.launchway.core.storage.ReportToken;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;

public final class ReportSender {
    /** So many reports go in one request. */
    private static final int BATCH = 50;
    private static final int MAX_ANSWER = 4096;

    /** How the server took a batch. */
    private enum Outcome {
        COUNTED,
        /** It will never count it. */
        REJECTED,
        /** It wants another token, which the next check brings. */
        TOKEN_REFUSED,
        /** It may count it later. */
        RETRY
    }

    private final ReportQueue queue;
    private final Network network;
    private final String url;
    /** What waits no longer. */
    private final List<Report> done = new ArrayList<Report>();
    private int taken;

    /** {@code url} is the address for reports of the app. */
    public ReportSender(ReportQueue queue, Network network, String url) {
        this.queue = queue;
        this.network = network;
        this.url = url;
    }

    /**
     * Sends what waits and returns how many reports the server took. Reports that it will never take are dropped; all others
     * stay.
     */
    public int send(List<ReportToken> tokens) throws IOException {
        List<Report> all = queue.waiting();
        taken = 0;
        for (ReportToken token : tokens) {
            if (!sendOf(token, all)) {
                break;
            }
        }
        queue.remove(done);
        done.clear();
        return taken;
    }

    /** Sends the reports of one update. Returns whether the server takes more. */
    private boolean sendOf(ReportToken token, List<Report> all) {
        List<Report> ofUpdate = new ArrayList<Report>();
        for (Report report : all) {
            if (report.updateId.equals(token.updateId)) {
                ofUpdate.add(report);
            }
        }
        for (int start = 0; start < ofUpdate.size(); start += BATCH) {
            List<Report> batch = ofUpdate.subList(start, Math.min(start + BATCH, ofUpdate.size()));
            Outcome outcome = sendBatch(token.token, batch);
            if (outcome == Outcome.REJECTED && batch.size() > 1) {
                outcome = sendEach(token.token, batch);
            }
            if (outcome == Outcome.RETRY || outcome == Outcome.TOKEN_REFUSED) {
                return outcome == Outcome.TOKEN_REFUSED;
            }
        }
        return true;
    }

    /** An older server may not know one kind of report: each for itself, until one has to wait. */
    private Outcome sendEach(String token, List<Report> batch) {
        for (Report report : batch) {
            Outcome outcome = sendBatch(token, Collections.singletonList(report));
            if (outcome == Outcome.RETRY || outcome == Outcome.TOKEN_REFUSED) {
                return outcome;
            }
        }
        return Outcome.COUNTED;
    }

    /** Sends reports together. What the server counts, or refuses alone, waits no longer. */
    private Outcome sendBatch(String token, List<Report> batch) {
        Outcome outcome = post(token, batch);
        if (outcome == Outcome.COUNTED) {
            taken += batch.size();
        }
        if (outcome == Outcome.COUNTED || (outcome == Outcome.REJECTED && batch.size() == 1)) {
            done.addAll(batch);
        }
        return outcome;
    }

    private Outcome post(String token, List<Report> reports) {
        List<JsonValue> events = new ArrayList<JsonValue>();
        for (Report report : reports) {
            events.add(report.toJson());
        }
        Map<String, JsonValue> body = JsonValue.newMembers();
        body.put("reportToken", JsonValue.of(token));
        body.put("events", JsonValue.array(events));
        try (Response response = network.send(Request.post(url, JsonWriter.plain(JsonValue.object(body))))) {
            if (response.status >= 200 && response.status < 300) {
                readToEnd(response);
                return Outcome.COUNTED;
            } else if (response.status == 400 && response.retryAfter() < 0) {
                return Outcome.REJECTED;
            }
            return response.status == 401 ? Outcome.TOKEN_REFUSED : Outcome.RETRY;
        } catch (IOException unreachable) {
            return Outcome.RETRY;
        }
    }

    /** Reading to the end lets the connection be used again. The status has said everything that matters. */
    private static void readToEnd(Response response) {
        try {
            response.readBody(MAX_ANSWER);
        } catch (IOException broken) {
            return;
        }
    }
}
