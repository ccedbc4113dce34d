/**
 * Shows in the web view of a Capacitor app what the client chose, and passes the calls of the app and the events for it.
 * {@code load()} comes before the web view is loaded.
 */
package dev.launchway.capacitor;

import com.getcapacitor.Bridge;
import com.getcapacitor.JSObject;
import com.getcapacitor.Plugin;
import com.getcapacitor.PluginCall;
import com.getcapacitor.PluginMethod;
import com.getcapacitor.annotation.CapacitorPlugin;
import dev.launchway.Launchway;
import java.io.File;

@CapacitorPlugin(name = "Launchway")
public final class LaunchwayPlugin extends Plugin {
    /** The event of this plugin that carries all events. */
    private static final String EVENT = "launchway";

    /** The plugin whose page receives the events. The activity before may be destroyed after the next one has started. */
    private static LaunchwayPlugin receiver;

    /** Why updates are switched off; null if they are not. */
    private String off;
    private dev.launchway.core.session.Bridge client;
    private ServedContent served;

    @Override
    public void load() {
        Bridge bridge = getBridge();
        off = reasonToBeOff(bridge);
        if (off != null) {
            Launchway.start(getContext()).showsOtherContent();
            return;
        }
        served = new ServedContent(getContext(), bridge);
        File folder = null;
        try {
            Launchway launchway = Launchway.start(getContext());
            client = launchway.bridge();
            folder = launchway.currentPath();
            launchway.setSwitcher(served);
            if (folder != null && !ServedContent.canBeServed(folder)) {
                launchway.showsOtherContent();
            }
        } finally {
            // Also after an exception: the folder of an earlier start must not run without the client.
            served.chooseForStart(folder);
        }
    }

    /** By `cordova.preferences` of the Capacitor configuration, or because the content comes from a `server.url`. */
    private static String reasonToBeOff(Bridge bridge) {
        if (bridge.isDeployDisabled()) {
            return "the preference DisableDeploy switches updates off; remove it";
        }
        return bridge.getServerUrl() != null ? "the app loads its content from server.url; remove it" : null;
    }

    @Override
    protected void handleOnDestroy() {
        stopEvents();
        if (served != null) {
            served.close();
        }
    }

    @PluginMethod
    public void call(final PluginCall call) {
        if (client == null) {
            call.reject(off != null ? off : "the client did not start", "unavailable");
            return;
        }
        String arguments = call.getString("arguments", "{}");
        client.call(call.getString("method", ""), arguments, new dev.launchway.core.session.Bridge.Reply() {
            @Override
            public void resolve(String json) {
                call.resolve(new JSObject().put("result", json));
            }

            @Override
            public void reject(String code, String message) {
                call.reject(message, code);
            }
        });
    }

    @Override
    @PluginMethod(returnType = PluginMethod.RETURN_NONE)
    public void addListener(PluginCall call) {
        super.addListener(call);
        startOrStopEvents();
    }

    @Override
    @PluginMethod(returnType = PluginMethod.RETURN_NONE)
    public void removeListener(PluginCall call) {
        super.removeListener(call);
        startOrStopEvents();
    }

    @Override
    @PluginMethod
    public void removeAllListeners(PluginCall call) {
        super.removeAllListeners(call);
        startOrStopEvents();
    }

    /** Called whenever a page begins to load: events wait until the new page listens. */
    @Override
    public void removeAllListeners() {
        super.removeAllListeners();
        startOrStopEvents();
    }

    private void startOrStopEvents() {
        synchronized (LaunchwayPlugin.class) {
            if (!hasListeners(EVENT)) {
                stopEvents();
            } else if (receiver != this && client != null) {
                receiver = this;
                client.listen(this::pass);
            }
        }
    }

    private void stopEvents() {
        synchronized (LaunchwayPlugin.class) {
            if (receiver == this) {
                receiver = null;
                client.listen(null);
            }
        }
    }

    /** On the thread of plugins, on which listeners are added and removed. */
    private void pass(String name, String payload) {
        JSObject event = new JSObject().put("name", name).put("payload", payload);
        getBridge().execute(() -> notifyListeners(EVENT, event));
    }
}
