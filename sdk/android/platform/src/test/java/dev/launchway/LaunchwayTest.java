/** The client starts in every process of an app, whatever Android throws at it. */
package dev.launchway;

import android.app.ActivityManager;
import android.app.Application;
import android.content.Context;
import android.os.Build;
import android.os.Handler;
import android.system.Os;
import dev.launchway.core.session.Bridge;
import dev.launchway.core.testing.Check;
import java.util.concurrent.TimeUnit;

public final class LaunchwayTest {
    /** The answer of a method: the result, or the code of the error. */
    private static String call(Launchway launchway, String method) throws InterruptedException {
        final String[] answers = new String[1];
        launchway.bridge().call(method, "{}", new Bridge.Reply() {
            @Override
            public void resolve(String json) {
                answers[0] = json;
            }

            @Override
            public void reject(String code, String message) {
                answers[0] = code;
            }
        });
        while (answers[0] == null) {
            // Answers arrive on the main thread.
            Runnable task = Handler.POSTED.poll(60, TimeUnit.SECONDS);
            Check.that(task != null, method + " is not answered");
            task.run();
        }
        return answers[0];
    }

    public void theProviderStartsTheClientOnce() throws Exception {
        try (FakeApplication app = new FakeApplication()) {
            Check.equal(null, Launchway.get());
            LaunchwayProvider provider = new LaunchwayProvider();
            provider.context = app;
            Check.that(provider.onCreate(), "created");
            Launchway launchway = Launchway.get();
            Check.that(launchway == Launchway.start(app), "the same");
            Check.equal(1, app.callbacks.size());
            Check.equal(null, launchway.currentPath());
            Check.that(launchway.currentContent().isEmbedded(), "the embedded app");
            Check.that(app.file("boot.json").contains("\"window\":true"), "recorded");
            Check.that(app.file("state.json").contains("\"code\":\"7\""), "its binary");
            Check.that(Os.FLUSHED.contains(app.getNoBackupFilesDir() + "/launchway"), "on disk");
            Check.equal(null, provider.query(null, null, null, null, null));
            Check.equal(0, provider.delete(null, null, null) + provider.update(null, null, null, null));
        }
    }

    public void callsAreAnsweredOnTheMainThread() throws Exception {
        try (FakeApplication app = new FakeApplication()) {
            Launchway launchway = Launchway.start(app);
            Check.that(call(launchway, "current").contains("\"updateId\":\"embedded:7\""), "current");
            Check.equal("notConfigured", call(launchway, "sync"));
        }
    }

    public void theAppMayStartItWhileItIsAttached() throws Exception {
        try (final FakeApplication app = new FakeApplication()) {
            Context attaching = new AttachingContext(app);
            Launchway launchway = Launchway.start(attaching);
            Check.equal(0, app.callbacks.size(), "not an application yet");
            Check.that(launchway == Launchway.start(app), "the same");
            Check.equal(1, app.callbacks.size());
        }
    }

    public void aStartWithoutAWindowIsOne() throws Exception {
        try (FakeApplication app = new FakeApplication()) {
            ActivityManager.importance = 300;
            Launchway.start(app);
            Check.that(app.file("boot.json").contains("\"window\":false"), "no window");
        }
    }

    public void beforeTheFirstUnlockNothingChanges() throws Exception {
        try (FakeApplication app = new FakeApplication()) {
            app.user.isUnlocked = false;
            Launchway launchway = Launchway.start(app);
            Check.equal(null, launchway.currentPath());
            Check.equal(null, app.file("boot.json"));
            Check.equal("storage", call(launchway, "sync"));
        }
    }

    public void android5HasNoLock() throws Exception {
        try (FakeApplication app = new FakeApplication()) {
            Build.VERSION.SDK_INT = 21;
            app.user.isUnlocked = false;
            app.info.processName = AppProcess.nameIn(new java.io.File("/proc/self/cmdline"));
            Launchway.start(app);
            Check.that(app.file("boot.json").contains("\"number\":1"), "started");
        }
    }

    public void settingsThatCannotBeReadChangeNothing() throws Exception {
        try (FakeApplication app = new FakeApplication()) {
            app.asset("launchway.json", "{\"apply\":\"now\"}");
            Launchway launchway = Launchway.start(app);
            Check.equal(null, launchway.currentPath());
            Check.equal(null, app.file("boot.json"));
            Check.equal("notConfigured", call(launchway, "current"));
        }
    }

    public void whateverAndroidThrowsTheAppStarts() throws Exception {
        try (FakeApplication app = new FakeApplication()) {
            app.trouble = new IllegalStateException("package manager has died");
            Launchway launchway = Launchway.start(app);
            Check.equal(null, launchway.currentPath());
            Check.equal("unknown", call(launchway, "current"));
        }
    }

    public void anotherProcessDecidesNothing() throws Exception {
        try (FakeApplication app = new FakeApplication()) {
            Application.processName = "com.example.app:push";
            Launchway launchway = Launchway.start(app);
            Check.equal(null, app.file("boot.json"));
            Check.equal(null, app.file("process"));
            Check.equal("notMain", call(launchway, "list"));
        }
    }

    public void theNextStartLooksForTheEndOfThisProcess() throws Exception {
        try (FakeApplication app = new FakeApplication()) {
            Launchway.start(app);
            Check.that(app.file("process").startsWith("1 "), "this one");
            app.newProcess(2);
            Launchway.start(app);
            Check.that(app.file("process").startsWith("2 "), "the next");
        }
    }
}
