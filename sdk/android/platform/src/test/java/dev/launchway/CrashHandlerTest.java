/** An uncaught error is on disk before it ends the process, and always reaches the handler that was there before. */
package dev.launchway;

import dev.launchway.core.session.TestApp;
import dev.launchway.core.testing.Check;
import java.util.ArrayList;
import java.util.List;

public final class CrashHandlerTest implements Thread.UncaughtExceptionHandler {
    private final TestApp app = new TestApp();
    private final List<Throwable> ended = new ArrayList<Throwable>();
    private boolean wasNoted;

    @Override
    public void uncaughtException(Thread thread, Throwable error) {
        ended.add(error);
        try {
            wasNoted = app.attempt().crashed;
        } catch (Exception unreadable) {
            throw new AssertionError(unreadable);
        }
    }

    /** Lets the client handle an error in place of the handlers of this JVM. */
    private void crash(Throwable error) {
        Thread.UncaughtExceptionHandler present = Thread.getDefaultUncaughtExceptionHandler();
        try {
            Thread.setDefaultUncaughtExceptionHandler(this);
            CrashHandler.install(app.session);
            Thread.getDefaultUncaughtExceptionHandler().uncaughtException(Thread.currentThread(), error);
        } finally {
            Thread.setDefaultUncaughtExceptionHandler(present);
        }
    }

    public void anErrorIsNotedAndPassedOn() throws Exception {
        app.launch();
        IllegalStateException error = new IllegalStateException("odd");
        crash(error);
        Check.equal(1, ended.size());
        Check.that(ended.get(0) == error, "the same");
        Check.that(wasNoted, "on disk by then");
    }

    public void aClientThatFailsPassesTheErrorOn() throws Exception {
        app.launch();
        crash(new IllegalStateException("odd") {
            private static final long serialVersionUID = 1;

            @Override
            public void printStackTrace(java.io.PrintWriter printer) {
                throw new OutOfMemoryError();
            }
        });
        Check.equal(1, ended.size());
    }

    public void theStackIsItsBeginning() {
        StringBuilder message = new StringBuilder();
        for (int at = 0; at < 10_000; at++) {
            message.append('x');
        }
        Check.equal(8 << 10, CrashHandler.stack(new RuntimeException(message.toString())).length());
        String stack = CrashHandler.stack(new RuntimeException("a", new IllegalStateException("b")));
        Check.that(stack.startsWith("java.lang.RuntimeException: a"), stack);
        Check.that(stack.contains("CrashHandlerTest.theStackIsItsBeginning"), stack);
        Check.that(stack.contains("Caused by: java.lang.IllegalStateException: b"), stack);
    }

    public void anEndlessRecursionHasAStack() {
        try {
            recurse(0);
        } catch (StackOverflowError error) {
            Check.equal(8 << 10, CrashHandler.stack(error).length());
            return;
        }
        throw new AssertionError("it ended");
    }

    private static int recurse(int depth) {
        return recurse(depth + 1) + 1;
    }
}
