/** For tests: stands in for Android's class. */
package android.content.pm;

public class PackageInfo {
    @Deprecated
    public int versionCode;

    public long lastUpdateTime;

    @SuppressWarnings("deprecation")
    public long getLongVersionCode() {
        return versionCode;
    }
}
