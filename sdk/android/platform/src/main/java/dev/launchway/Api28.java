/** What Android has since API level 28. Loaded only there. */
package dev.launchway;

import android.app.Application;
import android.content.pm.PackageInfo;

final class Api28 {
    private Api28() {}

    static long versionCode(PackageInfo info) {
        return info.getLongVersionCode();
    }

    static String processName() {
        return Application.getProcessName();
    }
}
