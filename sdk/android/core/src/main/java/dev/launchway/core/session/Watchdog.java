/**
 * Counts the time that a trial is in the foreground without confirmation (`docs/reference/sdk.md#watchdog`). It is called on
 * the thread of {@code tasks}.
 */
package dev.launchway.core.session;

final class Watchdog {
    private final Worker tasks;
    private final Timer timer;
    private final Runnable expired;
    private long limit;
    /** The time in the foreground before the present stay there. */
    private long spent;
    /** When the present stay began; -1: the app is not in the foreground. */
    private long since = -1;
    private boolean stopped;
    private Timer.Alarm alarm;

    /** Calls {@code expired} once, after {@code limit} milliseconds. */
    Watchdog(Worker tasks, Timer timer, long limit, Runnable expired) {
        this.tasks = tasks;
        this.timer = timer;
        this.limit = limit;
        this.expired = expired;
    }

    void resume() {
        if (!stopped && since < 0) {
            since = timer.now();
            arm();
        }
    }

    void pause() {
        if (since >= 0) {
            spent += timer.now() - since;
            since = -1;
            alarm.cancel();
        }
    }

    void setLimit(long milliseconds) {
        boolean counts = since >= 0;
        pause();
        limit = milliseconds;
        if (counts) {
            resume();
        }
    }

    void stop() {
        pause();
        stopped = true;
    }

    private void arm() {
        alarm = timer.after(Math.max(0, limit - spent), new Runnable() {
            @Override
            public void run() {
                tasks.run(new Runnable() {
                    @Override
                    public void run() {
                        check();
                    }
                });
            }
        });
    }

    /** The alarm may come from an earlier stay, or a little early. */
    private void check() {
        if (since < 0) {
            return;
        }
        pause();
        if (spent >= limit) {
            stopped = true;
            expired.run();
        } else {
            resume();
        }
    }
}
