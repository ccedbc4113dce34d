/** Notes an uncaught error before it ends the process, and passes it on to the handler that was there before. */
package dev.launchway;

import dev.launchway.core.session.Session;
import java.io.PrintWriter;
import java.io.Writer;

final class CrashHandler implements Thread.UncaughtExceptionHandler {
    /** A report has at most 8 KiB of the stack. */
    private static final int MAX_STACK = 8 << 10;

    private final Session session;
    private final Thread.UncaughtExceptionHandler next;

    private CrashHandler(Session session, Thread.UncaughtExceptionHandler next) {
        this.session = session;
        this.next = next;
    }

    static void install(Session session) {
        Thread.UncaughtExceptionHandler present = Thread.getDefaultUncaughtExceptionHandler();
        Thread.setDefaultUncaughtExceptionHandler(new CrashHandler(session, present));
    }

    @Override
    public void uncaughtException(Thread thread, Throwable error) {
        try {
            session.onCrash(stack(error));
        } catch (Throwable alsoThis) {
            // With little memory left, the first error is the one that matters.
            return;
        } finally {
            if (next != null) {
                next.uncaughtException(thread, error);
            }
        }
    }

    /** The beginning of the stack as Java prints it. */
    static String stack(Throwable error) {
        final StringBuilder text = new StringBuilder();
        PrintWriter printer = new PrintWriter(new Writer() {
            @Override
            public void write(char[] characters, int offset, int count) {
                text.append(characters, offset, Math.min(count, MAX_STACK - text.length()));
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        });
        error.printStackTrace(printer);
        printer.flush();
        return text.toString();
    }
}
