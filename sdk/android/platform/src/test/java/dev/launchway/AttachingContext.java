/** The context of an application that is being attached: it has no application context yet. */
package dev.launchway;

import android.content.Context;
import android.content.pm.ApplicationInfo;
import android.content.pm.PackageManager;
import android.content.res.AssetManager;
import android.content.res.Resources;
import java.io.File;

final class AttachingContext extends Context {
    private final Context base;

    AttachingContext(Context base) {
        this.base = base;
    }

    @Override
    public Context getApplicationContext() {
        return null;
    }

    @Override
    public String getPackageName() {
        return base.getPackageName();
    }

    @Override
    public PackageManager getPackageManager() {
        return base.getPackageManager();
    }

    @Override
    public ApplicationInfo getApplicationInfo() {
        return base.getApplicationInfo();
    }

    @Override
    public AssetManager getAssets() {
        return base.getAssets();
    }

    @Override
    public Resources getResources() {
        return base.getResources();
    }

    @Override
    public File getNoBackupFilesDir() {
        return base.getNoBackupFilesDir();
    }

    @Override
    public Object getSystemService(String name) {
        return base.getSystemService(name);
    }
}
