/** Calls of the app, events for it, and the bundle that it loads. */
package dev.launchway.reactnative;

import com.facebook.react.bridge.NativeModule;
import com.facebook.react.bridge.Promise;
import com.facebook.react.bridge.ReactApplicationContext;
import com.facebook.react.bridge.ReactMethod;
import dev.launchway.Launchway;
import dev.launchway.core.testing.Check;
import java.io.File;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

public final class LaunchwayModuleTest {
    private final Launchway client = Launchway.next = new Launchway();
    private final ReactApplicationContext context = new ReactApplicationContext();
    private final LaunchwayModule module = new LaunchwayModule(context);
    private final List<String> answers = new ArrayList<>();

    public LaunchwayModuleTest() {
        LaunchwayReactNative.isAsked = false;
    }

    private void call(String method) {
        module.call(method, "{}", new Promise() {
            @Override
            public void resolve(Object value) {
                answers.add("resolved " + value);
            }

            @Override
            public void reject(String code, String message) {
                answers.add(code + ": " + message);
            }
        });
    }

    public void the_app_loads_the_bundle_of_the_update_or_cannot_call() {
        call("current");
        Check.that(answers.get(0).startsWith("notStarted: the app does not load"), answers.get(0));
        Check.equal("[]", client.bridge().calls.toString());

        Check.equal(null, LaunchwayReactNative.jsBundleFile(context));
        client.folder = new File("/data/slots/1/app");
        Check.equal("/data/slots/1/app/index.android.bundle", LaunchwayReactNative.jsBundleFile(context));
        call("current");
        Check.equal("resolved {}", answers.get(1));
    }

    public void results_and_rejections_pass_through() {
        LaunchwayReactNative.jsBundleFile(context);
        call("next");
        call("sync");
        Check.equal("[resolved {}, network: the server cannot be reached]", answers.toString());
        Check.equal("[next {}, sync {}]", client.bridge().calls.toString());
    }

    public void events_reach_the_app_while_it_listens() {
        Check.equal(null, client.bridge().listener, "before");
        module.addListener("launchway");
        module.addListener("launchway");
        client.bridge().listener.onEvent("nextSet", "{}");
        Check.equal("[launchway {name=nextSet, payload={}}]", context.events.toString());
        module.removeListeners(1);
        Check.that(client.bridge().listener != null, "one is left");
        module.removeListeners(1);
        Check.equal(null, client.bridge().listener, "after");
    }

    public void a_module_that_ends_late_keeps_the_next_one_listening() {
        module.addListener("launchway");
        ReactApplicationContext later = new ReactApplicationContext();
        LaunchwayModule next = new LaunchwayModule(later);
        next.addListener("launchway");
        module.invalidate();
        client.bridge().listener.onEvent("nextSet", "{}");
        Check.equal("[] 1", context.events + " " + later.events.size());
        next.invalidate();
        Check.equal(null, client.bridge().listener, "after");
    }

    public void events_for_a_script_that_is_gone_are_dropped() {
        module.addListener("launchway");
        context.isActive = false;
        client.bridge().listener.onEvent("nextSet", "{}");
        Check.equal("[]", context.events.toString());
        module.invalidate();
    }

    public void the_package_has_the_module_with_its_methods() {
        NativeModule found = new LaunchwayPackage().createNativeModules(context).get(0);
        Check.equal("Launchway", found.getName());
        Check.equal(0, new LaunchwayPackage().createViewManagers(context).size());
        Set<String> methods = new TreeSet<>();
        for (Method method : LaunchwayModule.class.getMethods()) {
            if (method.isAnnotationPresent(ReactMethod.class)) {
                methods.add(method.getName());
            }
        }
        Check.equal("[addListener, call, removeListeners]", methods.toString());
    }
}
