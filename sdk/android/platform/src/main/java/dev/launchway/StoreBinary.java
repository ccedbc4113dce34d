/** The identity of the store binary that runs. */
package dev.launchway;

import android.content.Context;
import android.content.pm.PackageInfo;
import android.content.pm.PackageManager;
import android.os.Build;
import dev.launchway.core.boot.Binary;

final class StoreBinary {
    private StoreBinary() {}

    static Binary of(Context context) {
        PackageInfo info;
        try {
            info = context.getPackageManager().getPackageInfo(context.getPackageName(), 0);
        } catch (PackageManager.NameNotFoundException impossible) {
            throw new IllegalStateException("Android does not know the app that it runs", impossible);
        }
        String name = info.versionName == null ? "" : info.versionName;
        return new Binary(Long.toString(code(info)), name, info.lastUpdateTime);
    }

    @SuppressWarnings("deprecation")
    private static long code(PackageInfo info) {
        return Build.VERSION.SDK_INT >= 28 ? Api28.versionCode(info) : info.versionCode;
    }
}
