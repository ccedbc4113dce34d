/** What a start changed, and content that is switched while the app runs. */
package dev.launchway.core.session;

import dev.launchway.core.boot.Ending;
import dev.launchway.core.storage.WholeFiles;
import dev.launchway.core.testing.Check;
import dev.launchway.core.testing.Update;
import java.util.List;

public final class SwitchingTest {
    private static final String APPLY = "{\"serverUrl\":\"https://host/api\",\"apply\":\"%s\"}";

    private final TestApp app = new TestApp();

    private void apply(String when) {
        app.file = String.format(APPLY, when);
    }

    public void whatAStartDidWaitsForTheFirstListener() throws Exception {
        app.server.offer = Update.number(1);
        app.launch().draw();
        app.launch(true, Ending.EXPLAINED);
        app.threads.pass(5_000);
        Check.equal("[]", app.events.toString());
        app.listen();
        Check.equal("[updateApplied update_1]", app.events.toString());
        app.listen();
        Check.equal("[updateApplied update_1]", app.events.toString(), "once");
    }

    public void aRollBackWaitsForTheFirstListener() throws Exception {
        app.tryUpdate();
        app.session.onCrash(null);
        app.launch(true, Ending.CRASH);
        app.threads.settle();
        app.listen();
        Check.equal("[rolledBack crashed update_1, updateApplied null]", app.events.toString());
    }

    public void otherEventsDoNotWait() throws Exception {
        app.server.offer = Update.number(1);
        app.launch(true, Ending.EXPLAINED);
        app.draw();
        app.listen();
        Check.equal("[]", app.events.toString());
    }

    public void nobodyListensAfterTheEnd() throws Exception {
        app.launch();
        app.bridge.listen(null);
        app.draw();
        Check.equal("[]", app.events.toString());
    }

    public void aStartThatChangesNothingHasNoEvents() throws Exception {
        app.launch();
        app.launch();
        Check.equal("[]", app.events.toString());
    }

    public void anUpdateThatCannotRunIsAnEvent() throws Exception {
        app.server.offer = Update.number(1);
        app.launch().draw();
        WholeFiles.removeTree(app.disk, "slots/" + Update.number(1).sha256 + "/app/index.html");
        app.launch();
        Check.equal("[updateFailed no_entry_file update_1]", app.events.toString());
        Check.equal(null, app.session.currentFolder());
    }

    public void aReloadStartsTheNextContent() throws Exception {
        app.canReload = true;
        app.server.offer = Update.number(1);
        app.launch().draw();
        app.events.clear();
        Check.equal("{}", app.call("reload"));
        Check.equal("[" + TestApp.folder(1) + "]", app.switches.toString());
        Check.equal(TestApp.folder(1), app.session.currentFolder().getPath());
        Check.equal("[updateApplied update_1]", app.events.toString());
        Check.that(app.call("current").contains("\"trial\":true"), "on trial");
    }

    public void theAnswerComesBeforeTheSwitch() throws Exception {
        app.canReload = true;
        app.launch();
        List<String> answers = app.begin("reload", "{}");
        while (app.threads.tasks.runOne()) {
            continue;
        }
        app.threads.callbacks.runOne();
        Check.equal("[{}] []", answers + " " + app.switches);
        app.threads.settle();
        Check.equal("[embedded]", app.switches.toString());
    }

    public void aReloadIsNoFaultOfWhatRan() throws Exception {
        app.canReload = true;
        app.tryUpdate();
        for (int time = 0; time < 5; time++) {
            Check.equal("{}", app.call("reload"));
        }
        Check.equal(TestApp.folder(1), app.session.currentFolder().getPath());
        Check.equal(0L, app.boot().hard + app.boot().soft + app.boot().earlyCrashes);
        Check.that(app.boot().trial, "the trial continues");
    }

    public void whatIsReloadedProvesItselfAnew() throws Exception {
        app.canReload = true;
        app.server.offer = Update.number(1);
        app.launch().draw();
        app.call("sync");
        app.call("reload");
        app.threads.settle();
        Check.that(app.boot().trial, "its own script has not called yet");
        app.call("sync");
        Check.that(!app.boot().trial, "confirmed");
    }

    public void whatIsReloadedIsWatchedAnew() throws Exception {
        app.canReload = true;
        app.tryUpdate();
        app.threads.pass(19_000);
        app.call("reload");
        app.threads.pass(19_999);
        Check.that(!app.attempt().hung, "a new attempt");
        app.threads.pass(1);
        Check.that(app.attempt().hung, "20 seconds");
    }

    public void anAttemptThatHungGivesWayAtAReload() throws Exception {
        app.canReload = true;
        app.tryUpdate();
        app.threads.pass(20_000);
        app.call("reload");
        Check.equal("[embedded]", app.switches.toString());
    }

    public void aFrameworkThatCannotSaysSo() throws Exception {
        app.server.offer = Update.number(1);
        app.launch().draw();
        Check.equal("reloadUnsupported", app.refusal("reload", "{}"));
        app.session.setSwitcher(null);
        Check.equal("reloadUnsupported", app.refusal("reload", "{}"));
        Check.equal(null, app.session.currentFolder());
        Check.that(app.boot().next != null, "the next launch tries it");
    }

    public void immediateSwitchesAfterTheDownload() throws Exception {
        apply("immediate");
        app.canReload = true;
        app.server.offer = Update.number(1);
        app.launch();
        List<String> answers = app.begin("sync", "{}");
        app.draw();
        Check.that(answers.get(0).startsWith("{\"status\":\"staged\""), answers.toString());
        Check.equal("[" + TestApp.folder(1) + "]", app.switches.toString());
    }

    public void immediateLeavesItToTheNextLaunchWhereItMust() throws Exception {
        apply("immediate");
        app.server.offer = Update.number(1);
        app.launch().draw();
        Check.equal("[]", app.switches.toString());
        app.launch();
        Check.equal(TestApp.folder(1), app.session.currentFolder().getPath());
    }

    public void immediateDoesNotSwitchInVainAgainAndAgain() throws Exception {
        apply("immediate");
        app.canReload = true;
        app.server.offer = Update.number(1);
        app.launch();
        app.session.onFirstFrame();
        for (int round = 0; round < 5; round++) {
            app.threads.settleWithoutRounds();
            app.threads.rounds.runOne();
            // What was installed is damaged before it starts.
            WholeFiles.removeTree(app.disk, "slots/" + Update.number(1).sha256 + "/app/js/app.js");
            app.threads.settleWithoutRounds();
            app.begin("sync", "{}");
        }
        Check.equal("[embedded]", app.switches.toString());
    }

    public void onBackgroundSwitchesWhenTheAppLeaves() throws Exception {
        apply("onBackground");
        app.canReload = true;
        app.server.offer = Update.number(1);
        app.launch().draw();
        Check.equal("[]", app.switches.toString());
        app.leave();
        Check.equal("[" + TestApp.folder(1) + "]", app.switches.toString());
        Check.that(app.attempt().window && !app.attempt().foreground, "killed there, it is not to blame");
        app.enter();
        app.leave();
        Check.equal(1, app.switches.size(), "nothing new");
    }

    public void onBackgroundSwitchesWhenTheDownloadEndsThere() throws Exception {
        apply("onBackground");
        app.canReload = true;
        app.server.offer = Update.number(1);
        app.launch();
        app.session.onFirstFrame();
        app.threads.settleWithoutRounds();
        app.session.onBackground();
        app.threads.settle();
        Check.equal("[" + TestApp.folder(1) + "]", app.switches.toString());
    }

    public void onBackgroundDoesNotSwitchAfterAReturn() throws Exception {
        apply("onBackground");
        app.canReload = true;
        app.server.offer = Update.number(1);
        app.launch().draw();
        app.session.onBackground();
        app.session.onForeground();
        app.threads.settle();
        Check.equal("[]", app.switches.toString());
    }

    public void whatStartsInTheBackgroundIsConfirmedInTheForeground() throws Exception {
        apply("onBackground");
        app.canReload = true;
        app.server.offer = Update.number(1);
        app.launch().draw();
        app.leave();
        app.call("sync");
        Check.that(app.boot().trial, "nobody sees it");
        app.enter();
        Check.that(!app.boot().trial, "confirmed");
    }

    public void nextLaunchDoesNotSwitch() throws Exception {
        app.canReload = true;
        app.server.offer = Update.number(1);
        app.launch().draw();
        app.leave();
        app.enter();
        Check.equal("[]", app.switches.toString());
    }

    public void aResetAndAReloadShowTheEmbeddedApp() throws Exception {
        app.canReload = true;
        app.tryUpdate();
        app.call("notifyAppReady");
        Check.equal("{}", app.call("reset"));
        Check.equal(TestApp.folder(1), app.session.currentFolder().getPath(), "until the next start");
        Check.equal("{}", app.call("reload"));
        Check.equal(null, app.session.currentFolder());
        Check.equal("[embedded]", app.switches.toString());
    }

    public void anUnreadableStateDoesNotSwitch() throws Exception {
        app.canReload = true;
        app.tryUpdate();
        app.disk.write("state.json", new byte[] {'{'});
        Check.equal("notStarted", app.refusal("reload", "{}"));
        Check.equal(TestApp.folder(1), app.session.currentFolder().getPath());
        Check.equal("[]", app.switches.toString());
    }
}
