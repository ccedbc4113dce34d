/** The client's threads: one for rounds, one for everything else, which end when they are idle, and the main thread. */
package dev.launchway;

import android.os.Handler;
import android.os.Looper;
import android.os.SystemClock;
import android.util.Log;
import dev.launchway.core.session.SessionPorts;
import dev.launchway.core.session.Timer;
import dev.launchway.core.session.Worker;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

final class Threads {
    private static final long IDLE_SECONDS = 10;

    private Threads() {}

    static SessionPorts ports() {
        return new SessionPorts(worker("launchway-rounds"), worker("launchway"), mainThread(), timer());
    }

    private static ThreadFactory named(final String name) {
        return new ThreadFactory() {
            @Override
            public Thread newThread(Runnable task) {
                Thread thread = new Thread(task, name);
                thread.setDaemon(true);
                return thread;
            }
        };
    }

    static Worker worker(String name) {
        final ThreadPoolExecutor thread = new ThreadPoolExecutor(
                1, 1, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<Runnable>(), named(name));
        thread.allowCoreThreadTimeOut(true);
        return new Worker() {
            @Override
            public void run(Runnable task) {
                thread.execute(new Guarded(task));
            }
        };
    }

    /** A mistake of the client does not end the app. */
    private static final class Guarded implements Runnable {
        private final Runnable task;

        Guarded(Runnable task) {
            this.task = task;
        }

        @Override
        public void run() {
            try {
                task.run();
            } catch (RuntimeException mistake) {
                Log.w("Launchway", mistake);
            }
        }
    }

    private static Worker mainThread() {
        final Handler main = new Handler(Looper.getMainLooper());
        return new Worker() {
            @Override
            public void run(Runnable task) {
                main.post(task);
            }
        };
    }

    /** Not on the main thread, which may be what hangs. */
    private static Timer timer() {
        final ScheduledThreadPoolExecutor thread = new ScheduledThreadPoolExecutor(1, named("launchway-timer"));
        thread.setRemoveOnCancelPolicy(true);
        return new Timer() {
            @Override
            public long now() {
                return SystemClock.elapsedRealtime();
            }

            @Override
            public Alarm after(long milliseconds, Runnable task) {
                final ScheduledFuture<?> call = thread.schedule(task, milliseconds, TimeUnit.MILLISECONDS);
                return new Alarm() {
                    @Override
                    public void cancel() {
                        call.cancel(false);
                    }
                };
            }
        };
    }

    /** Waits; whoever interrupts a round wants it to go on at once. */
    static void pause(long milliseconds) {
        try {
            Thread.sleep(milliseconds);
        } catch (InterruptedException woken) {
            Thread.currentThread().interrupt();
        }
    }
}
