/** An app on a phone: what Android knows of it, and its folder. */
package dev.launchway;

import android.app.ActivityManager;
import android.app.Application;
import android.content.Context;
import android.content.pm.ApplicationInfo;
import android.content.pm.PackageInfo;
import android.content.pm.PackageManager;
import android.content.res.AssetManager;
import android.content.res.Resources;
import android.net.ConnectivityManager;
import android.os.Build;
import android.os.Handler;
import android.os.Process;
import android.os.UserManager;
import dev.launchway.core.storage.WholeFiles;
import dev.launchway.core.testing.TemporaryFolder;
import dev.launchway.core.text.Utf8;
import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.lang.reflect.Field;

final class FakeApplication extends Application implements Closeable {
    final TemporaryFolder folder = new TemporaryFolder();
    final AssetManager assets = new AssetManager();
    final Resources resources = new Resources();
    final ApplicationInfo info = new ApplicationInfo();
    final PackageInfo installed = new PackageInfo();
    final ActivityManager activities = new ActivityManager();
    final ConnectivityManager connectivity = new ConnectivityManager();
    final UserManager user = new UserManager();
    /** Thrown by the next question for the package; null: it is answered. */
    RuntimeException trouble;

    /** A phone with Android 15, whose other processes have not started. */
    @SuppressWarnings("deprecation")
    FakeApplication() throws IOException {
        Build.VERSION.SDK_INT = 35;
        Application.processName = "com.example.app";
        ActivityManager.importance = ActivityManager.RunningAppProcessInfo.IMPORTANCE_FOREGROUND;
        info.processName = "com.example.app";
        installed.versionCode = 7;
        installed.versionName = "1.2.0";
        installed.lastUpdateTime = 1_795_255_200_000L;
        newProcess(1);
    }

    /** The process is dead, and the next one has this id. */
    void newProcess(int id) {
        Process.id = id;
        Handler.POSTED.clear();
        Handler.DELAYED.clear();
        callbacks.clear();
        try {
            Field started = Launchway.class.getDeclaredField("started");
            started.setAccessible(true);
            started.set(null, null);
        } catch (ReflectiveOperationException renamed) {
            throw new AssertionError(renamed);
        }
    }

    void asset(String name, String text) {
        assets.files.put(name, Utf8.encode(text));
    }

    /** The content of a file of the client; null if there is none. */
    String file(String name) throws IOException {
        byte[] bytes = WholeFiles.read(folder.storage, "launchway/" + name, 1 << 20);
        return bytes == null ? null : Utf8.decode(bytes);
    }

    @Override
    public void close() throws IOException {
        folder.close();
    }

    @Override
    public Context getApplicationContext() {
        return this;
    }

    @Override
    public String getPackageName() {
        return "com.example.app";
    }

    @Override
    public PackageManager getPackageManager() {
        return new PackageManager() {
            @Override
            public PackageInfo getPackageInfo(String name, int flags) {
                if (trouble != null) {
                    throw trouble;
                }
                return installed;
            }

            @Override
            public ApplicationInfo getApplicationInfo(String name, int flags) {
                return info;
            }
        };
    }

    @Override
    public ApplicationInfo getApplicationInfo() {
        return info;
    }

    @Override
    public AssetManager getAssets() {
        return assets;
    }

    @Override
    public Resources getResources() {
        return resources;
    }

    @Override
    public File getNoBackupFilesDir() {
        return folder.storage.file("");
    }

    @Override
    public Object getSystemService(String name) {
        if (name.equals(Context.ACTIVITY_SERVICE)) {
            return activities;
        }
        return name.equals(Context.CONNECTIVITY_SERVICE) ? connectivity : user;
    }
}
