/** Every method of the bridge: what it takes, what it answers, and how it fails. */
package dev.launchway.core.session;

import dev.launchway.core.boot.Binary;
import dev.launchway.core.boot.Ending;
import dev.launchway.core.device.Ports;
import dev.launchway.core.storage.Storage;
import dev.launchway.core.testing.Check;
import dev.launchway.core.testing.TestClock;
import dev.launchway.core.testing.Update;
import java.io.File;
import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

public final class BridgeTest {
    private static final String[] WITHOUT_ARGUMENTS = {
        "check", "download", "sync", "reload", "notifyAppReady", "current", "getNext", "list", "reset",
        "getFailedUpdate", "getDeviceId",
    };

    private final TestApp app = new TestApp();

    public void eachMethodAnswersItsForm() throws Exception {
        app.canReload = true;
        app.launch().draw();
        String[][] table = {
            {"configure", "{}", "{}"},
            {"configure", "{\"checkOn\":\"manual\",\"apply\":\"immediate\",\"readyMode\":\"manual\"}", "{}"},
            {"check", "{}", "{\"status\":\"none\"}"},
            {"download", "{}", "{\"status\":\"none\"}"},
            {"sync", "{}", "{\"status\":\"none\"}"},
            {"notifyAppReady", "{}", "{\"confirmed\":false}"},
            {"current", "{}", "{\"buildNumber\":\"1\",\"embedded\":true,\"trial\":false,"
                    + "\"updateId\":\"embedded:1\",\"version\":\"1.0.0\"}"},
            {"getNext", "{}", "{\"update\":null}"},
            {"list", "{}", "{\"updates\":[]}"},
            {"reset", "{}", "{}"},
            {"getFailedUpdate", "{}", "{\"reason\":null,\"update\":null}"},
            {"getDeviceId", "{}", "{\"deviceId\":\"00000000000000000000000000000000\"}"},
            {"reload", "{}", "{}"},
        };
        for (String[] row : table) {
            Check.equal(row[2], app.call(row[0], row[1]), row[0]);
        }
    }

    public void anUpdateIsNamedWithAllThatIsKnown() throws Exception {
        app.tryUpdate();
        String update = "{\"buildNumber\":\"101\",\"id\":\"update_1\",\"sha256\":\"" + Update.number(1).sha256
                + "\",\"version\":\"1.0.0\"}";
        Check.equal("{\"updates\":[" + update + "]}", app.call("list"));
        Check.equal("{\"buildNumber\":\"101\",\"embedded\":false,\"trial\":true,\"updateId\":\"update_1\","
                + "\"version\":\"1.0.0\"}", app.call("current"));
        Check.equal("{\"update\":" + update + "}", app.call("next", "{\"id\":\"update_1\"}"));
        app.session.onCrash(null);
        app.launch();
        Check.equal("{\"reason\":\"crashed\",\"update\":" + update + "}", app.call("getFailedUpdate"));
        Check.equal("notFound", app.refusal("next", "{\"id\":\"update_1\"}"));
    }

    public void missingArgumentsAreNone() throws Exception {
        app.launch();
        Check.equal("{\"update\":null}", app.call("getNext", null));
        Check.equal("{\"update\":null}", app.call("getNext", ""));
        Check.equal("{\"update\":null}", app.call("getNext", " { } "));
    }

    public void argumentsThatAreNoObjectAreRefused() throws Exception {
        app.launch();
        String[] texts = {"[]", "null", "1", "\"id\"", "{", "{\"id\":1.5}", "{\"id\":\"a\",\"id\":\"b\"}", "nonsense"};
        for (String method : new String[] {"configure", "next", "sync", "getDeviceId"}) {
            for (String text : texts) {
                Check.equal("invalidArgument", app.refusal(method, text), method + " " + text);
            }
        }
    }

    public void methodsWithoutArgumentsTakeNone() throws Exception {
        app.launch();
        for (String method : WITHOUT_ARGUMENTS) {
            Check.equal("invalidArgument: " + method + " takes no arguments", app.call(method, "{\"id\":\"a\"}"));
        }
    }

    public void nextTakesAnIdAndNothingElse() throws Exception {
        app.launch();
        String[] texts = {"{}", "{\"id\":\"\"}", "{\"id\":1}", "{\"id\":null}", "{\"id\":\"a\",\"x\":1}"};
        for (String text : texts) {
            Check.equal("invalidArgument", app.refusal("next", text), text);
        }
        Check.equal("notFound", app.refusal("next", "{\"id\":\"update_9\"}"));
    }

    public void anUnknownMethodIsRefused() throws Exception {
        app.launch();
        for (String method : new String[] {"", "Sync", "constructor", "toString"}) {
            Check.equal("invalidArgument: `" + method + "` is not a method", app.call(method));
        }
    }

    public void wrongOptionsChangeNothing() throws Exception {
        app.launch();
        String[] texts = {
            "{\"checkOn\":\"always\"}",
            "{\"keepSlots\":1,\"readyTimeoutMs\":999}",
            "{\"entryFile\":\"main.js\"}",
            "{\"chekOn\":\"launch\"}",
        };
        for (String text : texts) {
            Check.equal("invalidArgument", app.refusal("configure", text), text);
        }
        Check.equal("invalidArgument: `chekOn` is not an option", app.call("configure", "{\"chekOn\":\"launch\"}"));
    }

    public void withoutAServerOnlyRoundsFail() throws Exception {
        app.file = "{}";
        app.launch().draw();
        Check.equal(0, app.checks());
        for (String method : new String[] {"check", "download", "sync"}) {
            Check.equal("notConfigured", app.refusal(method, "{}"), method);
        }
        Check.that(app.call("current").contains("\"embedded\":true"), "known");
        Check.equal("{}", app.call("configure", TestApp.SERVER));
        Check.equal("{\"status\":\"none\"}", app.call("sync"));
    }

    public void anotherProcessMayOnlyLook() throws Exception {
        app.tryUpdate();
        TestApp other = app.anotherProcess();
        for (String method : new String[] {
            "check", "download", "sync", "reload", "getNext", "list", "reset", "getFailedUpdate", "getDeviceId",
        }) {
            Check.equal("notMain", other.refusal(method, "{}"), method);
        }
        Check.equal("notMain", other.refusal("next", "{\"id\":\"update_1\"}"));
        Check.equal("{\"confirmed\":false}", other.call("notifyAppReady"));
        Check.that(other.call("current").contains("\"updateId\":\"update_1\""), "it runs the same");
        other.draw();
        other.leave();
        other.session.onCrash(null);
        Check.that(app.attempt().foreground && !app.attempt().crashed, "it notes nothing");
    }

    public void aCorruptStateHasItsCode() throws Exception {
        app.launch();
        app.disk.write("state.json", new byte[] {'{'});
        app.launch();
        Check.equal("stateCorrupt", app.refusal("list", "{}"));
        Check.equal("stateCorrupt", app.refusal("download", "{}"));
        Check.equal("notStarted", app.refusal("download", "{}"), "set aside");
        app.launch();
        Check.equal("{\"updates\":[]}", app.call("list"), "a new start");
    }

    public void aSessionThatIsOffSaysWhy() throws Exception {
        ManualThreads threads = new ManualThreads();
        SessionException locked = new SessionException(ErrorCode.STORAGE, "the phone is locked");
        app.threads = threads;
        app.session = Session.off(locked, threads.ports());
        app.bridge = new Bridge(app.session);
        for (String method : WITHOUT_ARGUMENTS) {
            Check.equal("storage: the phone is locked", app.call(method), method);
        }
        Check.equal("storage", app.refusal("configure", "{}"));
        Check.equal("storage", app.refusal("next", "{\"id\":\"update_1\"}"));
        app.listen();
        app.draw();
        app.leave();
        app.enter();
        app.session.onCrash(null);
        Check.equal(null, app.session.currentFolder());
        Check.equal("[]", app.events.toString());
    }

    public void storageWithoutALockIsOff() throws Exception {
        Storage broken = (Storage) Proxy.newProxyInstance(
                Storage.class.getClassLoader(), new Class<?>[] {Storage.class}, new InvocationHandler() {
                    @Override
                    public Object invoke(Object storage, Method method, Object[] arguments) throws IOException {
                        throw new IOException("locked");
                    }
                });
        AppFacts facts = new AppFacts(new Binary("1", "1.0.0", 1), "com.example.app", "index.html", null, null);
        Ports ports = new Ports(broken, app.server, new TestClock(), null);
        app.session = Session.start(
                facts, Options.defaults(), ports, new File("/data"), app.threads.ports(),
                new Session.Start(true, true, Ending.CRASH));
        app.bridge = new Bridge(app.session);
        Check.equal(null, app.session.currentFolder());
        Check.equal("storage: the storage failed: locked", app.call("current"));
    }

    public void errorsHaveTheCodesOfEveryLanguage() throws Exception {
        app.launch().draw();
        app.server.checkStatus = 503;
        Check.equal("server", app.refusal("check", "{}"));
        app.server.checkStatus = 200;
        app.server.says = new byte[] {'{'};
        Check.equal("invalidAnswer", app.refusal("check", "{}"));
        app.server.says = null;
        app.server.offer = Update.number(1);
        app.disk.setFree(1 << 20);
        Check.equal("noSpace", app.refusal("download", "{}"));
        app.disk.setFree(1 << 30);
        Check.equal("unknown", SessionException.of(new IllegalStateException("odd")).code.code());
        Check.equal("storage", SessionException.of(new IOException("odd")).code.code());
    }

    public void anAppWithARootThatCannotBeReadTakesNothing() throws Exception {
        app.trustFile = new byte[] {'{'};
        app.server.offer = Update.number(1);
        app.launch().draw();
        String answer = app.call("sync");
        Check.that(answer.startsWith("unverified: malformed: "), answer);
    }
}
