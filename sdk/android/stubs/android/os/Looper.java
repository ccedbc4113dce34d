/** For tests: there is the main thread only. */
package android.os;

public final class Looper {
    private static final Looper MAIN = new Looper();

    private Looper() {}

    public static Looper getMainLooper() {
        return MAIN;
    }
}
