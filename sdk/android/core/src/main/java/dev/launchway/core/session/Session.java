/**
 * The client of an app while it runs: what the platform reports, what the app calls, and rounds with the server that begin
 * by themselves. Every thread may call it. What takes time happens on the threads of {@link SessionPorts}, except that a
 * start, leaving the foreground and a crash are on disk when the call returns.
 */
package dev.launchway.core.session;

import dev.launchway.core.boot.Content;
import dev.launchway.core.boot.Ending;
import dev.launchway.core.device.Device;
import dev.launchway.core.device.Launch;
import dev.launchway.core.device.Mark;
import dev.launchway.core.device.Ports;
import dev.launchway.core.device.Settings;
import dev.launchway.core.device.StartOutcome;
import dev.launchway.core.device.Status;
import dev.launchway.core.device.UpdateTrust;
import dev.launchway.core.json.FormException;
import dev.launchway.core.json.JsonValue;
import dev.launchway.core.storage.State;
import java.io.File;
import java.io.IOException;

public final class Session {
    /** How the process starts. */
    public static final class Start {
        private final boolean mayDecide;
        private final boolean window;
        private final Ending ending;

        /**
         * @param mayDecide whether this is the app's main process; another one only follows it
         * @param window whether a window is shown
         * @param ending how the previous process ended
         */
        public Start(boolean mayDecide, boolean window, Ending ending) {
            this.mayDecide = mayDecide;
            this.window = window;
            this.ending = ending;
        }
    }

    private final SessionPorts ports;
    private final Events events;
    /** Why nothing works; null: it does. */
    private final SessionException problem;
    /** Null where nothing works. */
    private final Device device;
    private final Ports devicePorts;
    private final AppFacts app;
    private final File folder;
    private final Rounds rounds;
    private final RoundPolicy policy;
    private final Calls calls;
    /** Held to note the foreground, so that notes are in the order of what happened. */
    private final Object marks = new Object();
    private boolean foreground;
    private volatile Run run;
    private volatile Switcher switcher;
    /** What follows is used on the thread of tasks. */
    private Options options;
    private boolean drawn;
    /** Whether a switch brought nothing new, so that the next one is left to the next launch. */
    private boolean switchedInVain;

    private Session(SessionException problem, SessionPorts ports) {
        this.problem = problem;
        this.ports = ports;
        this.events = new Events(ports.callbacks);
        this.device = null;
        this.devicePorts = null;
        this.app = null;
        this.folder = null;
        this.rounds = null;
        this.policy = null;
        this.calls = new Calls(this);
    }

    private Session(AppFacts app, Options options, Ports devicePorts, File folder, SessionPorts ports, Start start)
            throws IOException {
        this.problem = null;
        this.app = app;
        this.options = options;
        this.devicePorts = devicePorts;
        this.folder = folder;
        this.ports = ports;
        this.foreground = start.window;
        this.events = new Events(ports.callbacks);
        Settings settings = app.settings(options);
        UpdateTrust.Opener trust = app.trust(devicePorts, options);
        this.device = start.mayDecide
                ? Device.open(devicePorts, settings, trust)
                : Device.openFollower(devicePorts, settings, trust);
        this.rounds = new Rounds(device, ports, events, new Rounds.Follower() {
            @Override
            public void finished(Rounds.Kind kind, RoundResult result, boolean isClaimed) {
                follow(kind, result, isClaimed);
            }
        });
        this.policy = new RoundPolicy(rounds, ports, device.isMain(), start.window);
        this.calls = new Calls(this);
    }

    /** A session in which the embedded app runs, nothing is changed, and every call fails with {@code problem}. */
    public static Session off(SessionException problem, SessionPorts ports) {
        return new Session(problem, ports);
    }

    /**
     * Decides what the app runs, before any of its code does. It never fails: where the storage does, the embedded app runs.
     *
     * @param folder where the storage of {@code devicePorts} is
     */
    public static Session start(
            AppFacts app, Options options, Ports devicePorts, File folder, SessionPorts ports, Start start) {
        Session session;
        try {
            session = new Session(app, options, devicePorts, folder, ports, start);
        } catch (IOException failure) {
            return off(SessionException.of(failure), ports);
        }
        StartOutcome outcome = session.device.start(new Launch(app.binary(), start.window, start.ending));
        session.run = new Run(session.device, outcome, ports, session.events);
        session.begin(session.run);
        return session;
    }

    private void begin(final Run begun) {
        ports.tasks.run(new Runnable() {
            @Override
            public void run() {
                begun.begin(options, isInForeground(), drawn);
            }
        });
    }

    /** What the app calls. */
    public Calls calls() {
        return calls;
    }

    /** The folder with the content that runs; null is the embedded app. */
    public File currentFolder() {
        String path = device == null ? null : run.outcome.folder;
        return path == null ? null : new File(folder, path);
    }

    /** What the folder holds. */
    public Content currentContent() {
        return device == null ? Content.EMBEDDED : run.outcome.content;
    }

    /** The framework shows other content: what happens from now on is not noted, and nothing is confirmed. */
    public void onOtherContent() {
        if (device != null) {
            run.disown();
        }
    }

    /** What can switch while the app runs; null: nothing. */
    public void setSwitcher(Switcher switcher) {
        this.switcher = switcher;
    }

    public void addListener(SessionListener listener) {
        events.add(listener);
    }

    public void removeListener(SessionListener listener) {
        events.remove(listener);
    }

    // What the platform reports

    public void onForeground() {
        note(true);
    }

    /** The app left the foreground. That is on disk when this returns. */
    public void onBackground() {
        note(false);
    }

    private void note(final boolean isInForeground) {
        if (device == null) {
            return;
        }
        synchronized (marks) {
            if (foreground == isInForeground) {
                return;
            }
            foreground = isInForeground;
            run.tryToMark(isInForeground ? Mark.FOREGROUND : Mark.BACKGROUND);
        }
        ports.tasks.run(new Runnable() {
            @Override
            public void run() {
                if (isInForeground) {
                    run.enterForeground();
                    policy.enterForeground(options);
                } else {
                    run.leaveForeground();
                    policy.leaveForeground();
                    apply();
                }
            }
        });
    }

    private boolean isInForeground() {
        synchronized (marks) {
            return foreground;
        }
    }

    /** The app has drawn its first frame. */
    public void onFirstFrame() {
        if (device == null) {
            return;
        }
        ports.tasks.run(new Runnable() {
            @Override
            public void run() {
                if (!drawn) {
                    drawn = true;
                    run.draw();
                    policy.draw(options);
                }
            }
        });
    }

    /** An uncaught error ends the app. That is on disk when this returns; {@code stack} may be null. */
    public void onCrash(String stack) {
        try {
            if (device != null && run.isNoted()) {
                device.markCrash(stack);
            }
        } catch (IOException full) {
            // The app ends all the same.
            return;
        }
    }

    // For the calls of the app, on the thread of tasks

    /** Fails where nothing works. */
    void checkWorks() throws SessionException {
        if (problem != null) {
            throw problem;
        }
    }

    SessionPorts ports() {
        return ports;
    }

    Device device() {
        return device;
    }

    AppFacts app() {
        return app;
    }

    Run run() {
        return run;
    }

    Rounds rounds() {
        return rounds;
    }

    void configure(JsonValue arguments) throws FormException {
        options = options.with(arguments);
        device.configure(app.settings(options), app.trust(devicePorts, options));
        run.configure(options);
        policy.configure();
    }

    void join(Rounds.Kind kind, Callback<RoundResult> callback) throws SessionException {
        policy.join(kind, callback, options);
    }

    /** What is remembered, if this process may use it. */
    State state() throws SessionException, IOException {
        if (!device.isMain()) {
            throw SessionException.notMain();
        }
        Status status = device.status();
        if (status != null) {
            return status.state;
        } else if (run.outcome.problem != null) {
            throw new SessionException(ErrorCode.STATE_CORRUPT, run.outcome.problem);
        }
        throw new SessionException(ErrorCode.NOT_STARTED, "the app has not started yet");
    }

    // Switching while the app runs

    private void follow(Rounds.Kind kind, RoundResult result, boolean isClaimed) {
        policy.remember(kind, result, isClaimed);
        if (kind == Rounds.Kind.SYNC && result.status == RoundResult.Status.STAGED) {
            apply();
        }
    }

    /** Switches to what the next start tries, if the app wants that now. Otherwise the next launch does. */
    private void apply() {
        boolean isWanted = options.apply == Options.Apply.IMMEDIATE
                || (options.apply == Options.Apply.ON_BACKGROUND && !isInForeground());
        try {
            if (isWanted && !switchedInVain && state().boot.next != null) {
                Content before = run.outcome.content;
                ports.callbacks.run(switchContent());
                // Something that is offered, but cannot run, must not make the app start over and over.
                switchedInVain = run.outcome.content.equals(before);
            }
        } catch (SessionException impossible) {
            return;
        } catch (IOException unreadable) {
            return;
        }
    }

    /**
     * Starts again without a new process. That the present run ends is no fault of its content. Returns what shows the new
     * content, where the app's callbacks are.
     */
    Runnable switchContent() throws SessionException {
        final Switcher present = switcher;
        if (present == null || !present.canReload()) {
            String message = "this framework cannot switch while the app runs; the next launch does";
            throw new SessionException(ErrorCode.RELOAD_UNSUPPORTED, message);
        }
        StartOutcome outcome = device.start(new Launch(app.binary(), true, Ending.EXPLAINED));
        if (outcome.problem != null) {
            throw new SessionException(ErrorCode.STORAGE, outcome.problem);
        }
        run.end();
        Run begun = new Run(device, outcome, ports, events);
        synchronized (marks) {
            run = begun;
            if (!foreground) {
                begun.tryToMark(Mark.BACKGROUND);
            }
        }
        begin(begun);
        rounds.forgetNext();
        final File target = currentFolder();
        return new Runnable() {
            @Override
            public void run() {
                present.reload(target);
            }
        };
    }
}
