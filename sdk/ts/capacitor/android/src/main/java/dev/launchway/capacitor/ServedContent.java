/** The folder that the web view is served from: that of an update, or the app's own assets. */
package dev.launchway.capacitor;

import android.app.Activity;
import android.content.Context;
import android.content.SharedPreferences;
import com.getcapacitor.Bridge;
import com.getcapacitor.plugin.WebView;
import dev.launchway.core.session.Switcher;
import java.io.File;

final class ServedContent implements Switcher {
    private final SharedPreferences preferences;
    /** Null once the activity is gone. */
    private volatile Bridge bridge;

    ServedContent(Context context, Bridge bridge) {
        this.preferences = context.getSharedPreferences(WebView.WEBVIEW_PREFS_NAME, Activity.MODE_PRIVATE);
        this.bridge = bridge;
    }

    /**
     * Chooses what the bridge serves when it loads the web view, which comes next. Every start writes it, also for the app's
     * own assets: an earlier start or a backup may have left another folder.
     */
    void chooseForStart(final File folder) {
        boolean isServed = canBeServed(folder);
        String path = isServed ? folder.getPath() : "";
        // Without commit, a process that dies now leaves the old folder. The bridge reads the value from memory, so it is
        // the right one although a full disk refuses it.
        preferences.edit().putString(WebView.CAP_SERVER_PATH, path).commit();
        if (isServed) {
            bridge.executeOnMainThread(() -> serveWhatWasIgnored(folder));
        }
    }

    /** The bridge ignores the preference at the first start of what it takes for a new binary. */
    private void serveWhatWasIgnored(File folder) {
        Bridge open = bridge;
        if (open != null && Bridge.DEFAULT_WEB_ASSET_DIR.equals(open.getServerBasePath())) {
            reload(folder);
        }
    }

    @Override
    public boolean canReload() {
        return bridge != null;
    }

    @Override
    public void reload(File folder) {
        Bridge open = bridge;
        if (open == null) {
            return;
        }
        if (canBeServed(folder)) {
            open.setServerBasePath(folder.getPath());
        } else {
            open.setServerAssetPath(Bridge.DEFAULT_WEB_ASSET_DIR);
        }
    }

    void close() {
        bridge = null;
    }

    /** A folder without a page would show an error, and nothing would bring the app back. */
    static boolean canBeServed(File folder) {
        return folder != null && new File(folder, "index.html").isFile();
    }
}
