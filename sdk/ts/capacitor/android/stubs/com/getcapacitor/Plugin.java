/** For tests: the part of the class of the same name in Capacitor that the plugin uses. It has one event. */
package com.getcapacitor;

import android.content.Context;
import java.util.ArrayList;
import java.util.List;

public class Plugin {
    private final List<PluginCall> listeners = new ArrayList<>();
    private Bridge bridge;

    public void load() {}

    public Context getContext() {
        return bridge.context;
    }

    public Bridge getBridge() {
        return bridge;
    }

    public void setBridge(Bridge bridge) {
        this.bridge = bridge;
    }

    protected void handleOnDestroy() {}

    protected void notifyListeners(String event, JSObject data) {
        for (PluginCall listener : new ArrayList<>(listeners)) {
            listener.resolve(data);
        }
    }

    protected boolean hasListeners(String event) {
        return !listeners.isEmpty();
    }

    public void addListener(PluginCall call) {
        listeners.add(call);
    }

    public void removeListener(PluginCall call) {
        listeners.remove(call);
    }

    public void removeAllListeners(PluginCall call) {
        listeners.clear();
        call.resolve();
    }

    public void removeAllListeners() {
        listeners.clear();
    }

    /** The bridge calls the protected method of the real class. */
    public void destroy() {
        handleOnDestroy();
    }
}
