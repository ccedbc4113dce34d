/** For tests: not of Android. Refuses what the level of the test does not have. */
package android.os;

public final class Level {
    private Level() {}

    public static void require(int level) {
        if (Build.VERSION.SDK_INT < level) {
            throw new NoSuchMethodError("since API level " + level);
        }
    }
}
