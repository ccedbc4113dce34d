/** When content has proved itself, what happens when it does not, and what is noted of its life. */
package dev.launchway.core.session;

import dev.launchway.core.boot.Content;
import dev.launchway.core.boot.Ending;
import dev.launchway.core.testing.Check;
import dev.launchway.core.testing.MemoryDisk;
import dev.launchway.core.testing.Update;

public final class ReadinessTest {
    private final TestApp app = new TestApp();

    public void aSyncAndAFrameConfirm() throws Exception {
        app.tryUpdate();
        Check.that(app.boot().trial, "on trial");
        app.begin("sync", "{}");
        app.threads.settleWithoutRounds();
        Check.that(app.boot().trial, "no frame yet");
        app.draw();
        Check.that(!app.boot().trial, "confirmed");
        Check.equal("[updateApplied update_1, appReady update_1, noUpdateAvailable]", app.events.toString());
        Check.that(app.server.reports.contains("confirmed update_1"), app.server.reports.toString());
    }

    public void aFrameWithoutSyncDoesNotConfirm() throws Exception {
        app.tryUpdate().draw();
        app.threads.pass(10_000);
        Check.that(app.boot().trial, "on trial");
        app.call("check");
        app.call("download");
        Check.that(app.boot().trial, "only sync counts");
        app.call("sync");
        Check.that(!app.boot().trial, "confirmed");
    }

    public void inTheBackgroundNothingConfirmsByItself() throws Exception {
        app.tryUpdate();
        app.leave();
        app.draw();
        app.call("sync");
        Check.that(app.boot().trial, "nobody sees it");
        app.enter();
        Check.that(!app.boot().trial, "confirmed");
    }

    public void inManualModeOnlyTheAppConfirms() throws Exception {
        app.file = "{\"serverUrl\":\"https://host/api\",\"readyMode\":\"manual\"}";
        app.tryUpdate().draw();
        app.call("sync");
        Check.that(app.boot().trial, "on trial");
        Check.equal("{\"confirmed\":true}", app.call("notifyAppReady"));
        Check.that(!app.boot().trial, "confirmed");
        Check.equal("{\"confirmed\":false}", app.call("notifyAppReady"), "again");
        Check.equal("[updateApplied update_1, noUpdateAvailable, appReady update_1]", app.events.toString());
    }

    public void theAppMayConfirmInAutoModeToo() throws Exception {
        app.tryUpdate();
        Check.equal("{\"confirmed\":true}", app.call("notifyAppReady"));
        app.draw();
        app.call("sync");
        Check.equal(1, app.events.toString().split("appReady").length - 1, "once");
    }

    public void theEmbeddedAppIsReadyAsWell() throws Exception {
        app.launch().draw();
        Check.equal("[noUpdateAvailable]", app.events.toString());
        app.call("sync");
        Check.equal("[noUpdateAvailable, appReady null]", app.events.toString());
        Check.equal("{\"confirmed\":false}", app.call("notifyAppReady"));
    }

    public void aConfirmationDoesNotWaitForARound() throws Exception {
        app.tryUpdate();
        app.begin("sync", "{}");
        app.session.onFirstFrame();
        app.threads.settleWithoutRounds();
        Check.that(!app.boot().trial, "confirmed before the server is asked");
        Check.equal(1, app.checks());
    }

    public void aConfirmationThatFailsIsTriedAgain() throws Exception {
        app.tryUpdate().launch();
        app.begin("sync", "{}");
        app.threads.settleWithoutRounds();
        app.failAt = app.disk.calls() + 1;
        app.launch();
        app.begin("sync", "{}");
        app.threads.settleWithoutRounds();
        app.session.onFirstFrame();
        app.threads.settleWithoutRounds();
        Check.that(app.boot().trial, "the disk failed");
        Check.that(!app.events.contains("appReady update_1"), "not ready");
        app.leave();
        app.enter();
        Check.that(!app.boot().trial, "confirmed");
        Check.that(app.events.contains("appReady update_1"), "ready");
    }

    public void whatStandsInConfirmsNothing() throws Exception {
        app.tryUpdate();
        MemoryDisk disk = app.disk;
        int standIns = 0;
        for (int call = 2; ; call++) {
            app.disk = disk;
            app.failAt = call;
            app.launch();
            boolean isOver = app.disk.calls() < call;
            boolean standsIn = app.session.currentFolder() == null;
            standIns += standsIn ? 1 : 0;
            app.draw();
            String answer = app.call("notifyAppReady");
            Check.that(!standsIn || !answer.equals("{\"confirmed\":true}"), "call " + call + ": " + answer);
            Check.that(!standsIn || app.boot().trial, "the trial continues, call " + call);
            if (isOver) {
                break;
            }
        }
        Check.that(standIns > 0, "some starts stand in");
    }

    public void contentThatIsNotShownConfirmsNothing() throws Exception {
        app.tryUpdate();
        app.session.onOtherContent();
        Check.equal("{\"confirmed\":false}", app.call("notifyAppReady"));
        app.session.onCrash("at other.js:1");
        app.threads.pass(60_000);
        app.leave();
        Check.that(app.boot().trial, "the trial continues");
        Check.that(!app.attempt().crashed && !app.attempt().hung, "it is not to blame");
    }

    public void theWatchdogCountsTheForegroundOnly() throws Exception {
        app.tryUpdate();
        app.threads.pass(15_000);
        app.leave();
        app.threads.pass(3_600_000);
        Check.that(!app.attempt().hung, "nobody waits");
        app.enter();
        app.threads.pass(4_999);
        Check.that(!app.attempt().hung, "not yet");
        app.threads.pass(1);
        Check.that(app.attempt().hung, "20 seconds in the foreground");
    }

    public void theWatchdogEndsWithTheConfirmation() throws Exception {
        app.tryUpdate();
        app.threads.pass(19_999);
        app.call("notifyAppReady");
        app.threads.pass(60_000);
        Check.that(!app.attempt().hung, "confirmed in time");
    }

    public void theWatchdogTakesTheTimeThatWasSet() throws Exception {
        app.tryUpdate();
        app.threads.pass(2_000);
        Check.equal("{}", app.call("configure", "{\"readyTimeoutMs\":5000}"));
        app.threads.pass(2_999);
        Check.that(!app.attempt().hung, "not yet");
        app.threads.pass(1);
        Check.that(app.attempt().hung, "5 seconds");
    }

    public void onlyATrialIsWatched() throws Exception {
        app.launch();
        app.threads.pass(60_000);
        Check.that(!app.attempt().hung, "the embedded app is never judged");
    }

    public void aHungTrialGivesWay() throws Exception {
        app.tryUpdate();
        app.threads.pass(20_000);
        app.launch();
        Check.equal(null, app.session.currentFolder());
        Check.equal("[rolledBack hung update_1, updateApplied null]", app.events.toString());
    }

    public void tenSecondsSettle() throws Exception {
        app.launch();
        app.threads.pass(9_999);
        Check.that(!app.attempt().settled, "not yet");
        app.threads.pass(1);
        Check.that(app.attempt().settled, "settled");
    }

    public void theForegroundIsNotedBeforeTheCallReturns() throws Exception {
        app.tryUpdate();
        Check.that(app.attempt().foreground, "it has a window");
        app.session.onBackground();
        Check.that(!app.attempt().foreground, "left");
        app.session.onForeground();
        Check.that(app.attempt().foreground, "returned");
    }

    public void theForegroundIsNotedWhileARoundRuns() throws Exception {
        app.launch();
        app.begin("check", "{}");
        app.threads.settleWithoutRounds();
        app.session.onBackground();
        Check.that(!app.attempt().foreground, "left");
    }

    public void aStartWithoutAWindowGetsOneLater() throws Exception {
        app.launch(false, Ending.EXPLAINED);
        app.threads.settle();
        Check.that(!app.attempt().window && !app.attempt().foreground, "no window");
        app.enter();
        Check.that(app.attempt().window && app.attempt().foreground, "a window");
    }

    public void aCrashIsNotedBeforeTheCallReturns() throws Exception {
        app.tryUpdate();
        app.session.onCrash("at app.js:1");
        Check.that(app.attempt().crashed, "noted");
        app.launch();
        Check.equal(Content.EMBEDDED, app.boot().current);
        Check.that(app.boot().quarantine.contains(Update.number(1).sha256), "in quarantine");
        app.draw();
        Check.that(app.server.reports.contains("crash update_1"), app.server.reports.toString());
    }

    public void twoUnexplainedDeathsInTheForegroundRollBack() throws Exception {
        app.tryUpdate();
        app.launch(true, Ending.UNEXPLAINED);
        Check.equal(TestApp.folder(1), app.session.currentFolder().getPath(), "one is forgiven");
        app.session.onBackground();
        app.launch(true, Ending.UNEXPLAINED);
        Check.equal(TestApp.folder(1), app.session.currentFolder().getPath(), "it was in the background");
        app.launch(true, Ending.UNEXPLAINED);
        Check.equal(null, app.session.currentFolder(), "rolled back");
    }
}
