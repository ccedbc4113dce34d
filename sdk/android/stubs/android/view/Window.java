/** For tests: a window with a view. */
package android.view;

public class Window {
    private final View view = new View();

    public View getDecorView() {
        return view;
    }
}
