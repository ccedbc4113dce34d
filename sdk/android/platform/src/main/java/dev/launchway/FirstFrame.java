/** Waits until a view is about to draw, and then for the frame after that: the first one is on the screen by then. */
package dev.launchway;

import android.view.Choreographer;
import android.view.View;
import android.view.ViewTreeObserver;
import dev.launchway.core.session.Session;

final class FirstFrame implements ViewTreeObserver.OnPreDrawListener, Choreographer.FrameCallback {
    private final View view;
    private final Session session;
    private boolean isDrawing;

    private FirstFrame(View view, Session session) {
        this.view = view;
        this.session = session;
    }

    static void await(View view, Session session) {
        view.getViewTreeObserver().addOnPreDrawListener(new FirstFrame(view, session));
    }

    @Override
    public boolean onPreDraw() {
        // The observer changes when the view is attached.
        view.getViewTreeObserver().removeOnPreDrawListener(this);
        if (!isDrawing) {
            isDrawing = true;
            Choreographer.getInstance().postFrameCallback(this);
        }
        return true;
    }

    @Override
    public void doFrame(long frameTimeNanos) {
        session.onFirstFrame();
    }
}
