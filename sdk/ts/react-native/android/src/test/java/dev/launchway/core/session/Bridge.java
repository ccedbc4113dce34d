/** For tests: a bridge to a client that answers at once, and whose events the test makes. */
package dev.launchway.core.session;

import java.util.ArrayList;
import java.util.List;

public final class Bridge {
    public interface Reply {
        void resolve(String json);

        void reject(String code, String message);
    }

    public interface Listener {
        void onEvent(String name, String payload);
    }

    public final List<String> calls = new ArrayList<>();
    public Listener listener;

    public void listen(Listener listener) {
        this.listener = listener;
    }

    public void call(String method, String arguments, Reply reply) {
        calls.add(method + " " + arguments);
        if (method.equals("sync")) {
            reply.reject("network", "the server cannot be reached");
        } else {
            reply.resolve("{}");
        }
    }
}
