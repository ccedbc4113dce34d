/** When the client learns that the app is visible, that it is not, and that it has drawn. */
package dev.launchway;

import android.app.Activity;
import android.app.Application.ActivityLifecycleCallbacks;
import android.os.Handler;
import android.view.Choreographer;
import dev.launchway.core.boot.Ending;
import dev.launchway.core.session.TestApp;
import dev.launchway.core.testing.Check;

public final class VisibilityTest {
    private final TestApp app = new TestApp();
    private ActivityLifecycleCallbacks android;

    private void observe(FakeApplication application) {
        Visibility.observe(application, app.session);
        android = application.callbacks.get(0);
    }

    private boolean isInForeground() throws Exception {
        return app.attempt().foreground;
    }

    public void theLastActivityThatStopsLeavesTheForeground() throws Exception {
        try (FakeApplication application = new FakeApplication()) {
            app.launch();
            observe(application);
            Activity first = new Activity();
            Activity second = new Activity();
            android.onActivityCreated(first, null);
            android.onActivityStarted(first);
            android.onActivityPaused(first);
            android.onActivityStarted(second);
            android.onActivityStopped(first);
            Check.that(isInForeground(), "the second is visible");
            android.onActivityStopped(second);
            Check.that(!isInForeground(), "none is visible");
            android.onActivityStarted(second);
            Check.that(isInForeground(), "it returned");
            android.onActivityDestroyed(first);
            Check.that(isInForeground(), "still");
        }
    }

    public void aRotationDoesNotLeaveTheForeground() throws Exception {
        try (FakeApplication application = new FakeApplication()) {
            app.launch();
            observe(application);
            Activity activity = new Activity();
            android.onActivityStarted(activity);
            activity.isRotated = true;
            android.onActivityStopped(activity);
            Check.that(isInForeground(), "it starts again at once");
            Activity rotated = new Activity();
            android.onActivityStarted(rotated);
            android.onActivityStopped(rotated);
            Check.that(!isInForeground(), "left");
        }
    }

    public void aWindowThatNeverComesIsNone() throws Exception {
        try (FakeApplication application = new FakeApplication()) {
            app.launch();
            observe(application);
            Handler.DELAYED.take().run();
            Check.that(!isInForeground(), "another app used this one");
        }
    }

    public void aWindowThatCameStays() throws Exception {
        try (FakeApplication application = new FakeApplication()) {
            app.launch();
            observe(application);
            android.onActivityStarted(new Activity());
            Handler.DELAYED.take().run();
            Check.that(isInForeground(), "visible");
        }
    }

    public void aStartWithoutAWindowGetsOne() throws Exception {
        try (FakeApplication application = new FakeApplication()) {
            app.launch(false, Ending.EXPLAINED);
            observe(application);
            Check.that(!isInForeground(), "no window");
            android.onActivityStarted(new Activity());
            Check.that(isInForeground() && app.attempt().window, "a window");
        }
    }

    public void theFrameAfterTheFirstDrawingIsTheFirstFrame() throws Exception {
        try (FakeApplication application = new FakeApplication()) {
            app.launch();
            observe(application);
            Activity activity = new Activity();
            android.onActivityStarted(activity);
            android.onActivityResumed(activity);
            Choreographer.getInstance().frame();
            app.threads.settle();
            Check.equal(0, app.checks(), "nothing was drawn");
            Check.that(activity.getWindow().getDecorView().getViewTreeObserver().draw(), "drawing goes on");
            app.threads.settle();
            Check.equal(0, app.checks(), "not on the screen yet");
            Choreographer.getInstance().frame();
            app.threads.settle();
            Check.equal(1, app.checks());
            activity.getWindow().getDecorView().getViewTreeObserver().draw();
            Choreographer.getInstance().frame();
            app.threads.settle();
            Check.equal(1, app.checks(), "once");
        }
    }
}
