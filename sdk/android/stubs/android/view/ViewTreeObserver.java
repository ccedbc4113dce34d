/** For tests: draws when the test says so. */
package android.view;

import java.util.ArrayList;
import java.util.List;

public final class ViewTreeObserver {
    public interface OnPreDrawListener {
        boolean onPreDraw();
    }

    private final List<OnPreDrawListener> listeners = new ArrayList<OnPreDrawListener>();

    public void addOnPreDrawListener(OnPreDrawListener listener) {
        listeners.add(listener);
    }

    public void removeOnPreDrawListener(OnPreDrawListener listener) {
        listeners.remove(listener);
    }

    /** What Android does before it draws. Returns whether it draws. */
    public boolean draw() {
        boolean draws = true;
        for (OnPreDrawListener listener : new ArrayList<OnPreDrawListener>(listeners)) {
            draws &= listener.onPreDraw();
        }
        return draws;
    }
}
