/** Reports leave the queue only when the server has taken them, or will never take them. */
package dev.launchway.core.reports;

import dev.launchway.core.net.Network;
import dev.launchway.core.net.Request;
import dev.launchway.core.net.Response;
import dev.launchway.core.storage.ReportToken;
import dev.launchway.core.testing.Check;
import dev.launchway.core.testing.MemoryDisk;
import java.io.ByteArrayInputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;

public final class ReportSenderTest {
    /** A server that responds with these status codes, in turn. */
    private static final class ScriptedServer implements Network {
        private final Iterator<Integer> statuses;

        ScriptedServer(Integer... statuses) {
            this.statuses = Arrays.asList(statuses).iterator();
        }

        @Override
        public Response send(Request request) {
            return new Response(
                    statuses.next(),
                    Collections.<String, List<String>>emptyMap(),
                    new ByteArrayInputStream(new byte[0]));
        }

        @Override
        public boolean isUnmetered() {
            return true;
        }
    }

    private final ReportQueue queue = new ReportQueue(new MemoryDisk());

    private void queue(String... typesAndUpdates) throws Exception {
        List<Report> reports = new ArrayList<Report>();
        for (int at = 0; at < typesAndUpdates.length; at += 2) {
            reports.add(new Report(typesAndUpdates[at], typesAndUpdates[at + 1], 1, null, null));
        }
        queue.add(reports);
    }

    private void expectSent(int taken, String left, Integer... statuses) throws Exception {
        ScriptedServer server = new ScriptedServer(statuses);
        List<ReportToken> tokens = Arrays.asList(new ReportToken("a", "token"), new ReportToken("b", "token"));
        Check.equal(taken, new ReportSender(queue, server, "https://host/api/update/report/app").send(tokens));
        Check.that(!server.statuses.hasNext(), "too few requests");
        StringBuilder waiting = new StringBuilder();
        for (Report report : queue.waiting()) {
            waiting.append(report.type).append(' ').append(report.updateId).append(", ");
        }
        Check.equal(left, waiting.toString());
    }

    public void whatIsTakenLeaves() throws Exception {
        queue("downloaded", "a", "installed", "a", "installed", "b");
        expectSent(3, "", 200, 200);
    }

    public void whatIsRefusedAloneLeaves() throws Exception {
        queue("crash", "a", "installed", "a", "installed", "b");
        expectSent(2, "", 400, 400, 200, 200);
    }

    public void aTokenRefusedAmongSingleReportsDropsNone() throws Exception {
        queue("downloaded", "a", "installed", "a", "confirmed", "a", "installed", "b");
        expectSent(2, "installed a, confirmed a, ", 400, 200, 401, 200);
    }

    public void aServerThatCannotTakeThemNowGetsThemLater() throws Exception {
        queue("downloaded", "a", "installed", "a", "installed", "b");
        expectSent(1, "installed a, installed b, ", 400, 200, 503);
    }
}
