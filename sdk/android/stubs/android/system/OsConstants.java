/** For tests: the constants that are used. */
package android.system;

public final class OsConstants {
    public static final int O_RDONLY = 0;

    private OsConstants() {}
}
