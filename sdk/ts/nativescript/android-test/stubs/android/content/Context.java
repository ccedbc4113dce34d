/** For tests: stands in for Android's class. */
package android.content;

import android.content.pm.PackageManager;
import java.io.File;

public abstract class Context {
    public abstract File getFilesDir();

    public abstract File getNoBackupFilesDir();

    public abstract String getPackageName();

    public abstract PackageManager getPackageManager();
}
