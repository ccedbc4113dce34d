/** For tests: a view with an observer. */
package android.view;

public class View {
    private final ViewTreeObserver observer = new ViewTreeObserver();

    public ViewTreeObserver getViewTreeObserver() {
        return observer;
    }
}
