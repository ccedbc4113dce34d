/** A phone with the app, whose processes and activities come and go. */
package dev.launchway.capacitor;

import android.content.Context;
import android.content.SharedPreferences;
import com.getcapacitor.Bridge;
import com.getcapacitor.JSObject;
import com.getcapacitor.PluginCall;
import com.getcapacitor.plugin.WebView;
import dev.launchway.Launchway;
import dev.launchway.core.testing.Check;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;

final class Phone {
    final MemoryPreferences preferences = new MemoryPreferences();
    final Launchway client = new Launchway();
    final File folder;
    private final Context context = new Context() {
        @Override
        public SharedPreferences getSharedPreferences(String name, int mode) {
            Check.equal("CapWebViewSettings", name, "the name of the preferences");
            return preferences;
        }
    };

    Phone() {
        Launchway.next = client;
        try {
            folder = Files.createTempDirectory("launchway").toFile();
            folder.deleteOnExit();
        } catch (IOException failure) {
            throw new IllegalStateException(failure);
        }
    }

    /** An update's folder, with a page. */
    File update(String name) {
        File update = emptyFolder(name);
        try {
            File page = new File(update, "index.html");
            Check.that(page.createNewFile(), "a page");
            page.deleteOnExit();
        } catch (IOException failure) {
            throw new IllegalStateException(failure);
        }
        return update;
    }

    File emptyFolder(String name) {
        File update = new File(folder, name);
        Check.that(update.mkdir(), "a folder");
        update.deleteOnExit();
        return update;
    }

    /** The activity is created: the plugin is loaded, then the web view. */
    Activity open() {
        return open(new Bridge(context));
    }

    Activity openWith(String serverUrl, boolean deployDisabled, boolean newBinary) {
        Bridge bridge = new Bridge(context);
        bridge.serverUrl = serverUrl;
        bridge.deployDisabled = deployDisabled;
        bridge.newBinary = newBinary;
        return open(bridge);
    }

    private Activity open(Bridge bridge) {
        Activity activity = new Activity(bridge);
        bridge.start(activity.plugin);
        return activity;
    }

    String preference() {
        return preferences.values.get(WebView.CAP_SERVER_PATH);
    }

    /** An activity with its web view. */
    static final class Activity {
        final Bridge bridge;
        final LaunchwayPlugin plugin = new LaunchwayPlugin();

        Activity(Bridge bridge) {
            this.bridge = bridge;
        }

        String served() {
            return bridge.getServerBasePath();
        }

        PluginCall call(String method, String arguments) {
            PluginCall call = new PluginCall(new JSObject().put("method", method).put("arguments", arguments));
            plugin.call(call);
            return call;
        }

        PluginCall listen() {
            PluginCall listener = new PluginCall(new JSObject().put("eventName", "launchway"));
            plugin.addListener(listener);
            return listener;
        }
    }
}
