/** For tests: keeps the callbacks for the test. */
package android.app;

import android.content.Context;
import android.os.Bundle;
import android.os.Level;
import java.util.ArrayList;
import java.util.List;

public abstract class Application extends Context {
    public static String processName;

    public final List<ActivityLifecycleCallbacks> callbacks = new ArrayList<ActivityLifecycleCallbacks>();

    public interface ActivityLifecycleCallbacks {
        void onActivityCreated(Activity activity, Bundle state);

        void onActivityStarted(Activity activity);

        void onActivityResumed(Activity activity);

        void onActivityPaused(Activity activity);

        void onActivityStopped(Activity activity);

        void onActivitySaveInstanceState(Activity activity, Bundle state);

        void onActivityDestroyed(Activity activity);
    }

    public static String getProcessName() {
        Level.require(28);
        return processName;
    }

    public void registerActivityLifecycleCallbacks(ActivityLifecycleCallbacks added) {
        callbacks.add(added);
    }
}
