/** When rounds with the server begin, who joins them, and their events. */
package dev.launchway.core.session;

import dev.launchway.core.boot.Ending;
import dev.launchway.core.json.JsonValue;
import dev.launchway.core.testing.Check;
import dev.launchway.core.testing.FakeServer;
import dev.launchway.core.testing.Update;
import java.util.List;
import java.util.TreeMap;

public final class RoundsTest {
    private static final String UPDATE = Update.number(1).sha256.toString();

    private final TestApp app = new TestApp();

    private void options(String more) {
        app.file = "{\"serverUrl\":\"https://host/api\"," + more + "}";
    }

    public void aLaunchBeginsOneRoundAfterTheFirstFrame() throws Exception {
        app.launch();
        app.threads.pass(5_000);
        Check.equal(0, app.checks(), "before the frame");
        app.draw();
        Check.equal(1, app.checks());
        app.draw();
        app.leave();
        app.threads.pass(3_600_000);
        app.enter();
        Check.equal(1, app.checks(), "once a launch");
    }

    public void theFirstSyncTakesTheRoundOfTheLaunch() throws Exception {
        app.server.offer = Update.number(1);
        app.launch().draw();
        Check.that(app.call("sync").contains("\"status\":\"staged\""), "staged");
        Check.equal(1, app.checks());
        app.call("sync");
        Check.equal(2, app.checks(), "the second asks");
    }

    public void anOldRoundOfTheLaunchIsNotTaken() throws Exception {
        app.launch().draw();
        app.threads.pass(60_000);
        app.call("sync");
        Check.equal(2, app.checks());
    }

    public void aFailedRoundOfTheLaunchIsNotTaken() throws Exception {
        app.server.isAway = true;
        app.launch().draw();
        app.server.isAway = false;
        Check.equal("{\"status\":\"none\"}", app.call("sync"));
    }

    public void aSyncBeforeTheFrameWaitsForIt() throws Exception {
        app.launch();
        List<String> answers = app.begin("sync", "{}");
        app.threads.settle();
        Check.equal(0, app.checks());
        app.draw();
        Check.equal("[{\"status\":\"none\"}]", answers.toString());
        Check.equal(1, app.checks(), "one round for both");
    }

    public void aFrameThatNeverComesDelaysSyncForTenSeconds() throws Exception {
        app.launch();
        List<String> answers = app.begin("sync", "{}");
        app.threads.pass(9_999);
        Check.equal(0, answers.size());
        app.threads.pass(1);
        Check.equal(1, answers.size());
    }

    public void withoutAWindowSyncBeginsAtOnce() throws Exception {
        app.launch(false, Ending.EXPLAINED);
        app.threads.settle();
        Check.equal(0, app.checks());
        Check.equal("{\"status\":\"none\"}", app.call("sync"));
    }

    public void resumeRepeatsTheRoundAtEachReturn() throws Exception {
        options("\"checkOn\":\"resume\"");
        app.launch().draw();
        Check.equal(1, app.checks(), "at the launch");
        app.threads.pass(59_000);
        app.leave();
        app.enter();
        Check.equal(1, app.checks(), "within a minute");
        app.threads.pass(1_000);
        app.enter();
        Check.equal(1, app.checks(), "it did not leave");
        app.leave();
        Check.equal(1, app.checks(), "not in the background");
        app.enter();
        Check.equal(2, app.checks(), "after a minute");
        app.leave();
        app.enter();
        Check.equal(2, app.checks(), "once a minute");
    }

    public void manualBeginsNothingByItself() throws Exception {
        options("\"checkOn\":\"manual\"");
        app.launch();
        app.call("sync");
        Check.equal(1, app.checks(), "not delayed by the frame");
        app.draw();
        app.leave();
        app.threads.pass(3_600_000);
        app.enter();
        Check.equal(1, app.checks());
    }

    public void twoSyncsAreOneRound() throws Exception {
        app.server.offer = Update.number(1);
        options("\"checkOn\":\"manual\"");
        app.launch();
        List<String> first = app.begin("sync", "{}");
        List<String> second = app.begin("sync", "{}");
        app.threads.settle();
        Check.equal(1, first.size());
        Check.equal(first, second);
        Check.equal(1, app.checks());
        Check.equal(1, app.server.downloads().size());
    }

    public void callsOfDifferentKindsTakeTurns() throws Exception {
        app.server.offer = Update.number(1);
        options("\"checkOn\":\"manual\"");
        app.launch();
        List<String> check = app.begin("check", "{}");
        List<String> download = app.begin("download", "{}");
        List<String> sync = app.begin("sync", "{}");
        app.threads.settle();
        String update = ",\"update\":{\"buildNumber\":\"101\",\"id\":\"update_1\",\"sha256\":\"" + UPDATE
                + "\",\"size\":" + Update.number(1).bytes.length + ",\"version\":\"1.0.0\"}}";
        Check.equal("[{\"status\":\"available\"" + update + "]", check.toString());
        Check.equal("[{\"status\":\"downloaded\"" + update + "]", download.toString());
        Check.equal("[{\"status\":\"staged\"" + update + "]", sync.toString());
        Check.equal(1, app.server.downloads().size());
    }

    public void aFailureReachesAllWhoWait() throws Exception {
        app.server.isAway = true;
        app.launch();
        List<String> first = app.begin("sync", "{}");
        List<String> second = app.begin("sync", "{}");
        app.draw();
        Check.equal("[network: the server cannot be reached: connection refused]", first.toString());
        Check.equal(first, second);
        app.server.isAway = false;
        Check.equal("{\"status\":\"none\"}", app.call("sync"), "the next begins anew");
    }

    public void otherSettingsAreNotJoined() throws Exception {
        options("\"checkOn\":\"manual\"");
        app.launch();
        List<String> before = app.begin("sync", "{}");
        app.threads.settleWithoutRounds();
        List<String> configured = app.begin("configure", "{\"configuration\":\"beta\"}");
        List<String> after = app.begin("sync", "{}");
        app.threads.settle();
        Check.equal("[{}]", configured.toString());
        Check.equal(before, after);
        Check.equal(2, app.checks());
        String last = app.server.requests.get(app.server.requests.size() - 1).url;
        Check.that(last.contains("configuration=beta"), last);
    }

    public void anUpdateIsReportedStepByStep() throws Exception {
        app.server.offer = Update.number(1);
        app.launch().draw();
        int size = Update.number(1).bytes.length;
        Check.equal("[updateAvailable update_1, downloadProgress update_1 " + size + " " + size
                + ", downloadComplete update_1, nextSet update_1]", app.events.toString());
        app.events.clear();
        app.call("sync");
        app.call("sync");
        Check.equal("[appReady null, updateAvailable update_1]", app.events.toString(), "nothing is new");
    }

    public void aDownloadIsNotSetAsNext() throws Exception {
        app.server.offer = Update.number(1);
        options("\"checkOn\":\"manual\"");
        app.launch();
        app.call("download");
        Check.that(!app.events.contains("nextSet update_1"), app.events.toString());
        Check.equal("{\"update\":null}", app.call("getNext"));
        Check.that(app.call("next", "{\"id\":\"update_1\"}").startsWith("{\"update\":{"), "chosen");
        Check.that(app.events.contains("nextSet update_1"), app.events.toString());
        Check.that(app.call("getNext").contains("update_1"), "next");
    }

    public void aFailedDownloadIsAnEvent() throws Exception {
        app.server.offer = Update.number(1);
        for (int time = 0; time < 4; time++) {
            app.server.troubles.add(FakeServer.breaksAfter(0));
        }
        app.launch();
        List<String> answers = app.begin("sync", "{}");
        app.draw();
        String message = "the download was interrupted: connection reset";
        Check.equal("[network: " + message + "]", answers.toString());
        String event = "downloadFailed network " + message + " update_1";
        Check.that(app.events.contains(event), app.events.toString());
    }

    public void aFaultyPackageIsQuarantined() throws Exception {
        TreeMap<String, byte[]> files = new TreeMap<String, byte[]>(Update.files(1));
        files.put("lib.so", new byte[1]);
        app.server.offer = new Update("update_1", "1.0.0", 101, Update.pack(files));
        app.launch();
        List<String> answers = app.begin("sync", "{}");
        app.draw();
        Check.that(answers.get(0).startsWith("badPackage: "), answers.toString());
        Check.that(app.call("sync").startsWith("{\"status\":\"quarantined\",\"update\":{"), "quarantined");
        Check.that(app.call("check").startsWith("{\"status\":\"quarantined\",\"update\":{"), "by a check, too");
        Check.that(app.call("getFailedUpdate").contains("\"id\":\"update_1\""), "it failed");
    }

    public void aStoreUpdateIsAnEvent() throws Exception {
        app.server.says = TestAnswers.storeUpdate("A new binary is needed");
        app.launch().draw();
        String answer = "{\"reason\":\"A new binary is needed\",\"status\":\"storeUpdateRequired\"}";
        Check.equal(answer, app.call("check"));
        Check.equal(answer, app.call("sync"));
        Check.equal(answer, app.call("download"));
        Check.equal("storeUpdateRequired A new binary is needed", app.events.get(0));
    }

    public void aMeteredConnectionWaitsForWifi() throws Exception {
        app.server.offer = Update.number(1);
        app.server.isMetered = true;
        options("\"wifiOnly\":true");
        app.launch().draw();
        Check.that(app.call("sync").startsWith("{\"status\":\"waitsForWifi\",\"update\":{"), "waits");
        Check.that(app.call("download").startsWith("{\"status\":\"waitsForWifi\",\"update\":{"), "waits");
        Check.equal("{}", app.call("configure", "{\"wifiOnly\":false}"));
        Check.that(app.call("sync").startsWith("{\"status\":\"staged\""), "staged");
    }

    public void theBytesThatRunAreCurrent() throws Exception {
        app.tryUpdate().draw();
        Update same = new Update("update_9", "1.0.0", 109, Update.number(1).bytes);
        app.server.offer = same;
        app.threads.pass(60_000);
        Check.that(app.call("sync").startsWith("{\"status\":\"current\",\"update\":{"), "current");
        Check.that(app.call("current").contains("\"updateId\":\"update_9\""), "it has the new id");
    }

    public void progressComesAtMostTenTimesASecond() throws Exception {
        ManualThreads.ManualTimer timer = app.threads.timer;
        ProgressFilter filter = new ProgressFilter(timer);
        int passed = 0;
        for (int at = 0; at < 1_000; at++) {
            passed += filter.passes() ? 1 : 0;
            app.threads.pass(1);
        }
        Check.equal(10, passed);
        Check.that(filter.passes(), "the next second");
    }

    public void theServersWordsStayAsTheyAre() throws Exception {
        String odd = "line\nquote\" \u2028 \ud83d\ude00";
        app.server.says = TestAnswers.storeUpdate(odd);
        app.launch();
        String answer = app.call("check");
        JsonValue reason = TestApp.read(answer).get("reason");
        Check.equal(odd, reason.asText());
        Check.that(answer.indexOf('\u2028') < 0, "scripts can read it");
    }
}
