/** For tests: tasks wait until the test takes them. */
package android.os;

import java.util.concurrent.LinkedBlockingQueue;

public class Handler {
    /** Tasks for the main thread. */
    public static final LinkedBlockingQueue<Runnable> POSTED = new LinkedBlockingQueue<Runnable>();
    /** Tasks for later. */
    public static final LinkedBlockingQueue<Runnable> DELAYED = new LinkedBlockingQueue<Runnable>();

    public Handler(Looper looper) {}

    public final boolean post(Runnable task) {
        return POSTED.add(task);
    }

    public final boolean postDelayed(Runnable task, long milliseconds) {
        return DELAYED.add(task);
    }
}
