/** For tests: the methods that are used. */
package android.content.pm;

public abstract class PackageManager {
    public static final int GET_META_DATA = 128;

    public static class NameNotFoundException extends Exception {
        private static final long serialVersionUID = 1;
    }

    public abstract PackageInfo getPackageInfo(String name, int flags) throws NameNotFoundException;

    public abstract ApplicationInfo getApplicationInfo(String name, int flags) throws NameNotFoundException;
}
