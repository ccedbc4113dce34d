/** For tests: what Android knows of an installed app. */
package android.content.pm;

import android.os.Level;

public class PackageInfo {
    @Deprecated
    public int versionCode;
    public int versionCodeMajor;
    public String versionName;
    public long lastUpdateTime;

    @SuppressWarnings("deprecation")
    public long getLongVersionCode() {
        Level.require(28);
        return (long) versionCodeMajor << 32 | versionCode;
    }
}
