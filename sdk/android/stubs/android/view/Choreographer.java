/** For tests: frames come when the test says so. */
package android.view;

import java.util.ArrayList;
import java.util.List;

public final class Choreographer {
    private static final Choreographer ONLY = new Choreographer();

    public interface FrameCallback {
        void doFrame(long frameTimeNanos);
    }

    private final List<FrameCallback> callbacks = new ArrayList<FrameCallback>();

    private Choreographer() {}

    public static Choreographer getInstance() {
        return ONLY;
    }

    public void postFrameCallback(FrameCallback callback) {
        callbacks.add(callback);
    }

    /** The next frame. */
    public void frame() {
        List<FrameCallback> due = new ArrayList<FrameCallback>(callbacks);
        callbacks.clear();
        for (FrameCallback callback : due) {
            callback.doFrame(0);
        }
    }
}
