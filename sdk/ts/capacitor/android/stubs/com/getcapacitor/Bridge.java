/**
 * For tests: the part of the class of the same name in Capacitor that the plugin uses, and the order in which it starts:
 * plugins are loaded, then the preference decides what the web view shows, unless the binary is new.
 */
package com.getcapacitor;

import android.content.Context;
import android.content.SharedPreferences;
import com.getcapacitor.plugin.WebView;
import java.io.File;
import java.util.ArrayList;
import java.util.List;

public class Bridge {
    public static final String DEFAULT_WEB_ASSET_DIR = "public";

    final Context context;
    private final List<Runnable> afterStart = new ArrayList<>();
    private String served;
    public boolean deployDisabled;
    public boolean newBinary;
    public String serverUrl;

    public Bridge(Context context) {
        this.context = context;
    }

    public void start(Plugin plugin) {
        plugin.setBridge(this);
        try {
            plugin.load();
        } catch (RuntimeException failure) {
            // As the real one: it logs that the plugin failed to load.
        }
        served = DEFAULT_WEB_ASSET_DIR;
        if (!deployDisabled && !newBinary) {
            SharedPreferences preferences = context.getSharedPreferences(WebView.WEBVIEW_PREFS_NAME, Context.MODE_PRIVATE);
            String path = preferences.getString(WebView.CAP_SERVER_PATH, null);
            if (path != null && !path.isEmpty() && new File(path).exists()) {
                served = path;
            }
        }
        for (Runnable task : afterStart) {
            task.run();
        }
    }

    public boolean isDeployDisabled() {
        return deployDisabled;
    }

    public String getServerUrl() {
        return serverUrl;
    }

    public String getServerBasePath() {
        if (served == null) {
            throw new NullPointerException("the server of the web view has not started");
        }
        return served;
    }

    public void setServerBasePath(String path) {
        getServerBasePath();
        served = path;
    }

    public void setServerAssetPath(String path) {
        getServerBasePath();
        served = path;
    }

    public void execute(Runnable task) {
        task.run();
    }

    public void executeOnMainThread(Runnable task) {
        if (served == null) {
            afterStart.add(task);
        } else {
            task.run();
        }
    }
}
