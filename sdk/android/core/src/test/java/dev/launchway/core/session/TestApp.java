/** An app with the SDK on a phone: its processes, its server, and what it learns. */
package dev.launchway.core.session;

import dev.launchway.core.boot.Attempt;
import dev.launchway.core.boot.Binary;
import dev.launchway.core.boot.BootState;
import dev.launchway.core.boot.Ending;
import dev.launchway.core.device.Ports;
import dev.launchway.core.device.RandomBytes;
import dev.launchway.core.json.JsonReader;
import dev.launchway.core.json.JsonValue;
import dev.launchway.core.net.Network;
import dev.launchway.core.storage.StateFiles;
import dev.launchway.core.testing.FakeServer;
import dev.launchway.core.testing.MemoryDisk;
import dev.launchway.core.testing.TestClock;
import dev.launchway.core.testing.Update;
import dev.launchway.core.text.Utf8;
import java.io.File;
import java.util.ArrayList;
import java.util.List;

public final class TestApp implements Switcher {
    static final String SERVER = "{\"serverUrl\":\"https://host/api\"}";

    MemoryDisk disk = new MemoryDisk();
    public final FakeServer server = new FakeServer();
    /** What the app's requests go to. */
    Network network = server;
    public ManualThreads threads = new ManualThreads();
    public Session session;
    Bridge bridge;
    /** The `launchway.json` of the binary. */
    String file = SERVER;
    byte[] trustFile;
    /** The call of the disk that fails in the next process; 0: none. */
    int failAt;
    private boolean isSecond;
    boolean canReload;
    /** What the framework was asked to show. */
    final List<String> switches = new ArrayList<String>();
    /** The events of the present process, shortened. */
    final List<String> events = new ArrayList<String>();

    private final Bridge.Listener listener = new Bridge.Listener() {
        @Override
        public void onEvent(String name, String payload) {
            events.add(name + shortened(read(payload)));
        }
    };

    /** A start with a window in a new process, whose script listens at once. */
    public TestApp launch() throws Exception {
        launch(true, Ending.EXPLAINED);
        bridge.listen(listener);
        threads.settle();
        return this;
    }

    /** A start in a new process. Nothing of it has run yet but the decision. */
    public void launch(boolean window, Ending ending) throws Exception {
        if (isSecond) {
            start(window, ending);
            return;
        }
        disk = failAt == 0 ? disk.copy() : disk.withFault(failAt, MemoryDisk.Fault.FAILS);
        threads = new ManualThreads();
        events.clear();
        start(window, ending);
    }

    private void start(boolean window, Ending ending) throws Exception {
        RandomBytes random = new RandomBytes() {
            @Override
            public byte[] next(int count) {
                return new byte[count];
            }
        };
        Ports ports = new Ports(disk, network, new TestClock(), random);
        AppFacts facts =
                new AppFacts(new Binary("1", "1.0.0", 1), "com.example.app", "index.html", null, trustFile);
        Options options = Options.read(Utf8.encode(file));
        session = Session.start(facts, options, ports, new File("/data"), threads.ports(), new Session.Start(!isSecond, window, ending));
        session.setSwitcher(this);
        bridge = new Bridge(session);
    }

    /** Another process of the same app, while this one has the lock of the disk. */
    TestApp anotherProcess() throws Exception {
        TestApp other = new TestApp();
        other.disk = disk;
        other.isSecond = true;
        return other.launch();
    }

    void listen() {
        bridge.listen(listener);
        threads.settleWithoutRounds();
    }

    /** The first frame is drawn, and everything that follows is done. */
    public TestApp draw() {
        session.onFirstFrame();
        threads.settle();
        return this;
    }

    void leave() {
        session.onBackground();
        threads.settle();
    }

    void enter() {
        session.onForeground();
        threads.settle();
    }

    /** Begins a call. The list has its answer when it is there. */
    List<String> begin(String method, String arguments) {
        final List<String> answers = new ArrayList<String>();
        bridge.call(method, arguments, new Bridge.Reply() {
            @Override
            public void resolve(String json) {
                answers.add(json);
            }

            @Override
            public void reject(String code, String message) {
                answers.add(code + ": " + message);
            }
        });
        return answers;
    }

    /** Calls a method and returns its answer. */
    public String call(String method, String arguments) {
        List<String> answers = begin(method, arguments);
        threads.settle();
        if (answers.size() != 1) {
            throw new AssertionError(method + " has the answers " + answers);
        }
        return answers.get(0);
    }

    public String call(String method) {
        return call(method, "{}");
    }

    /** The code that a call is rejected with. */
    String refusal(String method, String arguments) {
        return call(method, arguments).replaceFirst(": .*", "");
    }

    /** Update 1 runs, and is on trial. */
    public TestApp tryUpdate() throws Exception {
        server.offer = Update.number(1);
        launch().draw();
        call("sync");
        return launch();
    }

    public BootState boot() throws Exception {
        return StateFiles.loadState(disk).content().boot;
    }

    public Attempt attempt() throws Exception {
        return StateFiles.loadAttempt(disk);
    }

    /** How often the server was asked for an update. */
    public int checks() {
        int checks = 0;
        for (int at = 0; at < server.requests.size(); at++) {
            checks += server.requests.get(at).url.contains("/update/check/") ? 1 : 0;
        }
        return checks;
    }

    @Override
    public boolean canReload() {
        return canReload;
    }

    @Override
    public void reload(File folder) {
        switches.add(folder == null ? "embedded" : folder.getPath());
    }

    static String folder(int update) {
        return "/data/slots/" + Update.number(update).sha256 + "/app";
    }

    static JsonValue read(String json) {
        try {
            return JsonReader.read(Utf8.encode(json), 1 << 20);
        } catch (Exception malformed) {
            throw new AssertionError(json);
        }
    }

    /** The values of a payload in the order of their names, an update as its id. */
    private static String shortened(JsonValue payload) {
        StringBuilder text = new StringBuilder();
        for (JsonValue value : payload.asObject().values()) {
            JsonValue id = value.get("id");
            String plain = id == null ? value.toString() : id.toString();
            text.append(' ').append(plain.replace("\"", ""));
        }
        return text.toString();
    }
}
