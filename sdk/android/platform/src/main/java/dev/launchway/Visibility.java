/** Reports to the client when the app comes to the foreground, leaves it, and has drawn its first frame. */
package dev.launchway;

import android.app.Activity;
import android.app.Application;
import android.os.Bundle;
import android.os.Handler;
import android.os.Looper;
import dev.launchway.core.session.Session;

final class Visibility implements Application.ActivityLifecycleCallbacks {
    /** After this time without a window there will be none: another app used this one. */
    static final long WINDOW_TIMEOUT_MS = 10_000;

    private final Session session;
    private int visible;
    private boolean hadWindow;
    private boolean hasDrawn;

    private Visibility(Session session) {
        this.session = session;
    }

    static void observe(Application application, final Session session) {
        final Visibility visibility = new Visibility(session);
        application.registerActivityLifecycleCallbacks(visibility);
        new Handler(Looper.getMainLooper()).postDelayed(new Runnable() {
            @Override
            public void run() {
                if (!visibility.hadWindow) {
                    session.onBackground();
                }
            }
        }, WINDOW_TIMEOUT_MS);
    }

    @Override
    public void onActivityStarted(Activity activity) {
        hadWindow = true;
        visible++;
        session.onForeground();
    }

    @Override
    public void onActivityStopped(Activity activity) {
        visible = Math.max(0, visible - 1);
        // A rotation stops an activity and starts it again.
        if (visible == 0 && !activity.isChangingConfigurations()) {
            session.onBackground();
        }
    }

    @Override
    public void onActivityResumed(Activity activity) {
        if (!hasDrawn) {
            hasDrawn = true;
            FirstFrame.await(activity.getWindow().getDecorView(), session);
        }
    }

    @Override
    public void onActivityCreated(Activity activity, Bundle state) {}

    @Override
    public void onActivityPaused(Activity activity) {}

    @Override
    public void onActivitySaveInstanceState(Activity activity, Bundle state) {}

    @Override
    public void onActivityDestroyed(Activity activity) {}
}
