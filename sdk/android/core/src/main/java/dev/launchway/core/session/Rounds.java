/**
 * Rounds with the server, one at a time. A call joins the round of its kind that waits or runs. Rounds run on a thread of
 * their own; everything else here is called on the thread of {@code tasks}.
 */
package dev.launchway.core.session;

import dev.launchway.core.device.CheckAnswer;
import dev.launchway.core.device.Device;
import dev.launchway.core.device.Status;
import dev.launchway.core.device.SyncException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

final class Rounds {
    enum Kind {
        CHECK,
        DOWNLOAD,
        SYNC
    }

    /** Learns of each round that ended well, after the calls that waited for it. */
    interface Follower {
        /** {@code isClaimed} says that a call waited for it. */
        void finished(Kind kind, RoundResult result, boolean isClaimed);
    }

    /** A round and the calls that wait for it. */
    private static final class Joined {
        final Kind kind;
        final List<Callback<RoundResult>> callbacks = new ArrayList<Callback<RoundResult>>();
        boolean begun;

        Joined(Kind kind) {
            this.kind = kind;
        }
    }

    private final Device device;
    private final SessionPorts ports;
    private final Events events;
    private final Follower follower;
    private final Map<Kind, Joined> open = new EnumMap<Kind, Joined>(Kind.class);
    /** The package that the last `nextSet` named; null: none did. */
    private String announcedNext;

    Rounds(Device device, SessionPorts ports, Events events, Follower follower) {
        this.device = device;
        this.ports = ports;
        this.events = events;
        this.follower = follower;
    }

    /** Joins a round; {@code callback} may be null. A round that may not begin yet waits for {@link #beginWaiting}. */
    void join(Kind kind, Callback<RoundResult> callback, boolean mayBegin) {
        Joined round = open.get(kind);
        if (round == null) {
            round = new Joined(kind);
            open.put(kind, round);
        }
        if (callback != null) {
            round.callbacks.add(callback);
        }
        if (mayBegin) {
            begin(round);
        }
    }

    void beginWaiting() {
        for (Joined round : open.values()) {
            begin(round);
        }
    }

    /** Joins no call to a round that has begun: it asks with settings of the past. */
    void separate() {
        for (Kind kind : Kind.values()) {
            Joined round = open.get(kind);
            if (round != null && round.begun) {
                open.remove(kind);
            }
        }
    }

    /** Announces what the next start tries, unless the app knows. */
    void announceNext(UpdateInfo update) {
        if (!update.sha256.equals(announcedNext)) {
            announcedNext = update.sha256;
            events.emit(Event.of(Event.Type.NEXT_SET, update));
        }
    }

    /** Nothing is chosen for the next start any more. */
    void forgetNext() {
        announcedNext = null;
    }

    private void begin(final Joined round) {
        if (round.begun) {
            return;
        }
        round.begun = true;
        ports.rounds.run(new Runnable() {
            @Override
            public void run() {
                execute(round);
            }
        });
    }

    private void execute(final Joined round) {
        RoundEvents progress = new RoundEvents(ports.timer, events);
        RoundResult result = null;
        SessionException failure = null;
        try {
            result = execute(round.kind, progress);
        } catch (Exception failed) {
            failure = SessionException.of(failed);
            progress.failed(failure);
        }
        final RoundResult ended = result;
        final SessionException error = failure;
        ports.tasks.run(new Runnable() {
            @Override
            public void run() {
                finish(round, ended, error);
            }
        });
    }

    private RoundResult execute(Kind kind, RoundEvents progress) throws SyncException, IOException {
        switch (kind) {
            case CHECK:
                return check();
            case DOWNLOAD:
                return RoundResult.of(device.download(progress));
            default:
                return RoundResult.of(device.sync(progress));
        }
    }

    private RoundResult check() throws SyncException, IOException {
        CheckAnswer answer = device.check();
        switch (answer.kind) {
            case NOTHING:
                return new RoundResult(RoundResult.Status.NONE, null, "");
            case STORE_UPDATE_REQUIRED:
                return new RoundResult(RoundResult.Status.STORE_UPDATE_REQUIRED, null, answer.message);
            default:
                Status status = device.status();
                UpdateInfo update = UpdateInfo.of(answer.offer);
                if (status != null && status.state.boot.quarantine.contains(answer.offer.sha256)) {
                    return new RoundResult(RoundResult.Status.QUARANTINED, update, "");
                }
                events.emit(Event.of(Event.Type.UPDATE_AVAILABLE, update));
                return new RoundResult(RoundResult.Status.AVAILABLE, update, "");
        }
    }

    private void finish(Joined round, RoundResult result, SessionException failure) {
        if (open.get(round.kind) == round) {
            open.remove(round.kind);
        }
        if (failure != null) {
            for (Callback<RoundResult> callback : round.callbacks) {
                Delivery.error(ports.callbacks, callback, failure);
            }
            return;
        }
        announce(result);
        for (Callback<RoundResult> callback : round.callbacks) {
            Delivery.result(ports.callbacks, callback, result);
        }
        follower.finished(round.kind, result, !round.callbacks.isEmpty());
    }

    private void announce(RoundResult result) {
        if (result.status == RoundResult.Status.NONE) {
            events.emit(Event.of(Event.Type.NO_UPDATE_AVAILABLE, null));
        } else if (result.status == RoundResult.Status.STORE_UPDATE_REQUIRED) {
            events.emit(Event.because(Event.Type.STORE_UPDATE_REQUIRED, null, result.reason));
        } else if (result.status == RoundResult.Status.STAGED) {
            announceNext(result.update);
        }
    }
}
