/** For tests: stands in for Android's class. */
package android.content.pm;

public abstract class PackageManager {
    public static class NameNotFoundException extends Exception {
        private static final long serialVersionUID = 1;
    }

    public abstract PackageInfo getPackageInfo(String name, int flags) throws NameNotFoundException;
}
