/** Calls of the page and events for it. */
package dev.launchway.capacitor;

import com.getcapacitor.JSObject;
import com.getcapacitor.PluginCall;
import com.getcapacitor.PluginMethod;
import dev.launchway.core.testing.Check;
import java.lang.reflect.Method;
import java.util.Set;
import java.util.TreeSet;

public class CallsAndEventsTest {
    private final Phone phone = new Phone();

    public void aCallPassesTextsThrough() {
        Phone.Activity activity = phone.open();
        Check.equal("[resolved {result={}}]", activity.call("next", "{\"id\":\"u1\"}").answers.toString());
        Check.equal("[next {\"id\":\"u1\"}]", phone.client.bridge().calls.toString());
    }

    public void aRejectionHasItsCode() {
        String answers = phone.open().call("sync", "{}").answers.toString();
        Check.equal("[rejected network: the server cannot be reached]", answers);
    }

    public void aCallWithoutMethodReachesTheClient() {
        PluginCall call = new PluginCall(new JSObject());
        phone.open().plugin.call(call);
        Check.equal("[ {}]", phone.client.bridge().calls.toString());
    }

    public void eventsReachThePageThatListens() {
        PluginCall listener = phone.open().listen();
        phone.client.bridge().listener.onEvent("nextSet", "{}");
        Check.equal(1, listener.answers.size(), "answers");
        Check.that(listener.answers.get(0).contains("name=nextSet"), "the name");
        Check.that(listener.answers.get(0).contains("payload={}"), "the payload");
    }

    public void eventsWaitInTheClientWhileNobodyListens() {
        Phone.Activity activity = phone.open();
        Check.equal(null, phone.client.bridge().listener, "before");
        PluginCall listener = activity.listen();
        Check.that(phone.client.bridge().listener != null, "listening");
        activity.plugin.removeListener(listener);
        Check.equal(null, phone.client.bridge().listener, "removed");
        activity.listen();
        activity.plugin.removeAllListeners(new PluginCall(new JSObject()));
        Check.equal(null, phone.client.bridge().listener, "all removed");
    }

    public void aPageThatLoadsLosesTheListenersOfTheOneBefore() {
        Phone.Activity activity = phone.open();
        activity.listen();
        activity.plugin.removeAllListeners();
        Check.equal(null, phone.client.bridge().listener, "the listener");
        activity.listen();
        Check.that(phone.client.bridge().listener != null, "the new page listens");
    }

    public void anActivityThatEndsLateKeepsTheNextOneListening() {
        Phone.Activity older = phone.open();
        older.listen();
        Phone.Activity newer = phone.open();
        PluginCall listener = newer.listen();
        older.plugin.destroy();
        phone.client.bridge().listener.onEvent("nextSet", "{}");
        Check.equal(1, listener.answers.size(), "answers");
        newer.plugin.destroy();
        Check.equal(null, phone.client.bridge().listener, "the listener");
    }

    public void capacitorFindsEveryMethodThatThePageCalls() {
        Set<String> found = new TreeSet<>();
        for (Method method : LaunchwayPlugin.class.getMethods()) {
            PluginMethod plugin = method.getAnnotation(PluginMethod.class);
            if (plugin != null) {
                found.add(method.getName() + " " + plugin.returnType());
            }
        }
        // Annotations of methods are not inherited: those that are overridden have to repeat them.
        Check.equal("[addListener none, call promise, removeAllListeners promise, removeListener none]", found.toString());
    }
}
