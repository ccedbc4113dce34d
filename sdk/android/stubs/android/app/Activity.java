/** For tests: an activity with a window. */
package android.app;

import android.view.Window;

public class Activity {
    public boolean isRotated;
    private final Window window = new Window();

    public Window getWindow() {
        return window;
    }

    public boolean isChangingConfigurations() {
        return isRotated;
    }
}
