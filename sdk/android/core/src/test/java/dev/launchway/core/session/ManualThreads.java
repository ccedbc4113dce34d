/** Threads and time that a test moves by hand. */
package dev.launchway.core.session;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

public final class ManualThreads {
    /** A thread that runs when the test says so. */
    static final class ManualWorker implements Worker {
        private final Deque<Runnable> waiting = new ArrayDeque<Runnable>();

        @Override
        public void run(Runnable task) {
            waiting.add(task);
        }

        boolean runOne() {
            Runnable task = waiting.poll();
            if (task != null) {
                task.run();
            }
            return task != null;
        }
    }

    /** A clock that stands still until the test moves it. */
    static final class ManualTimer implements Timer {
        private static final class Call implements Alarm {
            final long at;
            final Runnable task;
            boolean canceled;

            Call(long at, Runnable task) {
                this.at = at;
                this.task = task;
            }

            @Override
            public void cancel() {
                canceled = true;
            }
        }

        private final List<Call> calls = new ArrayList<Call>();
        private long now = 5_000;

        @Override
        public long now() {
            return now;
        }

        @Override
        public Alarm after(long milliseconds, Runnable task) {
            Call call = new Call(now + milliseconds, task);
            calls.add(call);
            return call;
        }

        /** The next call that is due by {@code end}; null: there is none. */
        private Call due(long end) {
            Call next = null;
            for (Call call : calls) {
                boolean isDue = !call.canceled && call.at <= end;
                if (isDue && (next == null || call.at < next.at)) {
                    next = call;
                }
            }
            calls.remove(next);
            return next;
        }
    }

    final ManualWorker rounds = new ManualWorker();
    final ManualWorker tasks = new ManualWorker();
    final ManualWorker callbacks = new ManualWorker();
    final ManualTimer timer = new ManualTimer();

    SessionPorts ports() {
        return new SessionPorts(rounds, tasks, callbacks, timer);
    }

    /** Runs everything that waits, but no rounds with the server. */
    void settleWithoutRounds() {
        while (tasks.runOne() || callbacks.runOne()) {
            continue;
        }
    }

    /** Runs everything that waits. */
    public void settle() {
        settleWithoutRounds();
        while (rounds.runOne()) {
            settleWithoutRounds();
        }
    }

    /** Lets time pass, with everything that happens then. */
    public void pass(long milliseconds) {
        settle();
        long end = timer.now + milliseconds;
        for (ManualTimer.Call call = timer.due(end); call != null; call = timer.due(end)) {
            timer.now = call.at;
            call.task.run();
            settle();
        }
        timer.now = end;
    }
}
