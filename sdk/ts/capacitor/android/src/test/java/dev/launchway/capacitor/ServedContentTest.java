/** What the web view shows at each start, and after a switch. */
package dev.launchway.capacitor;

import dev.launchway.core.testing.Check;
import java.io.File;

public class ServedContentTest {
    private final Phone phone = new Phone();

    public void theWebViewShowsTheChosenFolder() {
        phone.client.folder = phone.update("one");
        Check.equal(phone.client.folder.getPath(), phone.open().served());
        Check.that(!phone.client.showsOther, "the choice of the client runs");
    }

    public void embeddedContentBlanksThePreferenceAtEveryStart() {
        phone.preferences.values.put("serverBasePath", phone.update("left-by-a-backup").getPath());
        Check.equal("public", phone.open().served());
        Check.equal("", phone.preference());
        phone.open();
        Check.equal(2, phone.preferences.commits, "commits");
    }

    public void aFolderWithoutAPageIsNeverShown() {
        phone.client.folder = phone.emptyFolder("bare");
        Phone.Activity activity = phone.open();
        Check.equal("public", activity.served());
        Check.that(phone.client.showsOther, "the client learns that its choice does not run");
        phone.client.switcher.reload(phone.emptyFolder("bare too"));
        Check.equal("public", activity.served());
        phone.client.switcher.reload(new File(phone.folder, "nothing"));
        Check.equal("public", activity.served());
    }

    public void aFullDiskDoesNotChangeWhatIsShown() {
        phone.preferences.values.put("serverBasePath", phone.update("old").getPath());
        phone.preferences.diskIsFull = true;
        phone.client.folder = phone.update("new");
        Check.equal(phone.client.folder.getPath(), phone.open().served());
    }

    public void aClientThatCannotStartLeavesNoFolder() {
        phone.preferences.values.put("serverBasePath", phone.update("old").getPath());
        phone.client.failsToStart = true;
        Phone.Activity activity = phone.open();
        Check.equal("public", activity.served());
        Check.equal("", phone.preference());
        Check.equal("[rejected unavailable: the client did not start]", activity.call("sync", "{}").answers.toString());
    }

    public void aFolderThatTheBridgeIgnoredIsShownAfterwards() {
        phone.client.folder = phone.update("one");
        Check.equal(phone.client.folder.getPath(), phone.openWith(null, false, true).served());
        phone.client.folder = null;
        Check.equal("public", phone.openWith(null, false, true).served());
    }

    public void theAppSwitchesWhileItRunsAndBack() {
        Phone.Activity activity = phone.open();
        File update = phone.update("one");
        Check.that(phone.client.switcher.canReload(), "it can");
        phone.client.switcher.reload(update);
        Check.equal(update.getPath(), activity.served());
        phone.client.switcher.reload(null);
        Check.equal("public", activity.served());
    }

    public void anActivityThatIsGoneIsNotSwitched() {
        Phone.Activity activity = phone.open();
        activity.plugin.destroy();
        Check.that(!phone.client.switcher.canReload(), "it cannot");
        phone.client.switcher.reload(phone.update("one"));
        Check.equal("public", activity.served());
    }

    public void theNewerActivityIsSwitched() {
        Phone.Activity older = phone.open();
        Phone.Activity newer = phone.open();
        older.plugin.destroy();
        File update = phone.update("one");
        Check.that(phone.client.switcher.canReload(), "it can");
        phone.client.switcher.reload(update);
        Check.equal(update.getPath(), newer.served());
    }

    public void disableDeploySwitchesUpdatesOff() {
        phone.client.folder = phone.update("one");
        Phone.Activity activity = phone.openWith(null, true, false);
        Check.equal("public", activity.served());
        Check.equal(null, phone.preference(), "the preference");
        Check.equal(null, phone.client.switcher, "the switcher");
        Check.that(phone.client.showsOther, "the client learns that its choice does not run");
        Check.that(activity.call("sync", "{}").answers.get(0).startsWith("rejected unavailable: "), "sync is unavailable");
        Check.that(phone.client.bridge().calls.isEmpty(), "the client is not called");
    }

    public void contentFromADevelopmentServerSwitchesUpdatesOff() {
        phone.client.folder = phone.update("one");
        Phone.Activity activity = phone.openWith("http://10.0.2.2:5173", false, false);
        Check.equal("public", activity.served());
        Check.that(activity.call("check", "{}").answers.get(0).startsWith("rejected unavailable: "), "check is unavailable");
        Check.that(phone.client.showsOther, "the client learns that its choice does not run");
    }
}
