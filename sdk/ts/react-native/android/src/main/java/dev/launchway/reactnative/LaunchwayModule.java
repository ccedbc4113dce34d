/** Passes the calls of the app to the client, and the events of the client to the app. */
package dev.launchway.reactnative;

import com.facebook.react.bridge.Arguments;
import com.facebook.react.bridge.Promise;
import com.facebook.react.bridge.ReactApplicationContext;
import com.facebook.react.bridge.ReactContextBaseJavaModule;
import com.facebook.react.bridge.ReactMethod;
import com.facebook.react.bridge.WritableMap;
import dev.launchway.Launchway;
import dev.launchway.core.session.Bridge;

public final class LaunchwayModule extends ReactContextBaseJavaModule {
    static final String NAME = "Launchway";
    /** The event of this module that carries all events. */
    private static final String EVENT = "launchway";

    /** The module that receives the events. After a reload the next one may listen before this one ends. */
    private static LaunchwayModule receiver;

    private final ReactApplicationContext context;
    private int listeners;

    LaunchwayModule(ReactApplicationContext context) {
        super(context);
        this.context = context;
    }

    @Override
    public String getName() {
        return NAME;
    }

    @ReactMethod
    public void call(String method, String arguments, final Promise promise) {
        if (!LaunchwayReactNative.isAsked) {
            String message = "the app does not load the bundle of the client; pass LaunchwayReactNative.jsBundleFile in MainApplication";
            promise.reject("notStarted", message);
            return;
        }
        client().call(method, arguments, new Bridge.Reply() {
            @Override
            public void resolve(String json) {
                promise.resolve(json);
            }

            @Override
            public void reject(String code, String message) {
                promise.reject(code, message);
            }
        });
    }

    /** Called by NativeEventEmitter. */
    @ReactMethod
    public void addListener(String event) {
        synchronized (LaunchwayModule.class) {
            listeners++;
            if (receiver != this) {
                receiver = this;
                client().listen(new Bridge.Listener() {
                    @Override
                    public void onEvent(String name, String payload) {
                        pass(name, payload);
                    }
                });
            }
        }
    }

    /** Called by NativeEventEmitter. */
    @ReactMethod
    public void removeListeners(double count) {
        synchronized (LaunchwayModule.class) {
            listeners = Math.max(0, listeners - (int) count);
            if (listeners == 0) {
                stopEvents();
            }
        }
    }

    @Override
    public void invalidate() {
        synchronized (LaunchwayModule.class) {
            stopEvents();
        }
        super.invalidate();
    }

    private void stopEvents() {
        if (receiver == this) {
            receiver = null;
            client().listen(null);
        }
    }

    private Bridge client() {
        return Launchway.start(context).bridge();
    }

    private void pass(String name, String payload) {
        if (context.hasActiveReactInstance()) {
            WritableMap event = Arguments.createMap();
            event.putString("name", name);
            event.putString("payload", payload);
            context.emitDeviceEvent(EVENT, event);
        }
    }
}
