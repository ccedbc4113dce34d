/** When rounds with the server begin. It is called on the thread of tasks. */
package dev.launchway.core.session;

final class RoundPolicy {
    /** The shortest time between rounds that begin because the app returns. */
    private static final long RESUME_PAUSE_MS = 60_000;
    /** For how long `sync()` takes the result of a round that began by itself. */
    private static final long FRESH_MS = 60_000;
    /** How long `sync()` waits for a first frame, which may never come. */
    private static final long FRAME_TIMEOUT_MS = 10_000;

    private final Rounds rounds;
    private final SessionPorts ports;
    private final boolean isMain;
    /** Whether a first frame is expected, which a round must not delay. */
    private boolean awaitsFrame;
    /** Whether the app left the foreground and has not returned. */
    private boolean left;
    /** Whether a round began, and when the last one did. */
    private boolean hasBegun;
    private long lastBegan;
    /** The result of a round that no call waited for, and since when it is there; null: there is none. */
    private RoundResult unclaimed;
    private long unclaimedSince;

    RoundPolicy(Rounds rounds, SessionPorts ports, boolean isMain, boolean awaitsFrame) {
        this.rounds = rounds;
        this.ports = ports;
        this.isMain = isMain;
        this.awaitsFrame = awaitsFrame;
    }

    /** A call of the app. */
    void join(Rounds.Kind kind, Callback<RoundResult> callback, Options options) throws SessionException {
        if (options.serverUrl == null) {
            String message = "serverUrl is not set; set it in launchway.toml or call configure()";
            throw new SessionException(ErrorCode.NOT_CONFIGURED, message);
        }
        if (!isMain) {
            throw SessionException.notMain();
        }
        if (kind != Rounds.Kind.SYNC) {
            rounds.join(kind, callback, true);
            return;
        }
        RoundResult fresh = unclaimed;
        unclaimed = null;
        if (fresh != null && ports.timer.now() - unclaimedSince < FRESH_MS) {
            Delivery.result(ports.callbacks, callback, fresh);
            return;
        }
        boolean waits = awaitsFrame && options.checkOn != Options.CheckOn.MANUAL;
        if (waits) {
            endWaitInTime();
        }
        begin(callback, !waits);
    }

    private void endWaitInTime() {
        ports.timer.after(FRAME_TIMEOUT_MS, new Runnable() {
            @Override
            public void run() {
                ports.tasks.run(new Runnable() {
                    @Override
                    public void run() {
                        awaitsFrame = false;
                        rounds.beginWaiting();
                    }
                });
            }
        });
    }

    private void begin(Callback<RoundResult> callback, boolean now) {
        hasBegun = true;
        lastBegan = ports.timer.now();
        rounds.join(Rounds.Kind.SYNC, callback, now);
    }

    /** The app has drawn its first frame. */
    void draw(Options options) {
        awaitsFrame = false;
        rounds.beginWaiting();
        if (!hasBegun && beginsByItself(options)) {
            begin(null, true);
        }
    }

    void enterForeground(Options options) {
        boolean mayBegin = !hasBegun || ports.timer.now() - lastBegan >= RESUME_PAUSE_MS;
        boolean isReturn = left && options.checkOn == Options.CheckOn.RESUME;
        left = false;
        if (isReturn && mayBegin && !awaitsFrame && beginsByItself(options)) {
            begin(null, true);
        }
    }

    void leaveForeground() {
        left = true;
    }

    private boolean beginsByItself(Options options) {
        return isMain && options.serverUrl != null && options.checkOn != Options.CheckOn.MANUAL;
    }

    /** Options have changed: results of before do not count. */
    void configure() {
        unclaimed = null;
        rounds.separate();
    }

    /** A round has ended. */
    void remember(Rounds.Kind kind, RoundResult result, boolean isClaimed) {
        if (kind == Rounds.Kind.SYNC && !isClaimed) {
            unclaimed = result;
            unclaimedSince = ports.timer.now();
        }
    }
}
