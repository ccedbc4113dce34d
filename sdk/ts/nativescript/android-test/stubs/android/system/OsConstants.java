/** For tests: stands in for Android's class. */
package android.system;

public final class OsConstants {
    public static final int O_RDONLY = 0;
}
