/** What Android's reasons for the end of a process say about the content that ran. */
package dev.launchway;

import dev.launchway.core.boot.Ending;

final class ExitReasons {
    /** Android does not list the process. */
    static final int NOT_LISTED = -1;

    private ExitReasons() {}

    /** {@code reason} is a constant of `ApplicationExitInfo`, by its number because older levels do not have the class. */
    static Ending ending(int reason) {
        switch (reason) {
            case 4:
                return Ending.CRASH;
            case 5:
                return Ending.NATIVE_CRASH;
            case 6:
                return Ending.NOT_RESPONDING;
            case 7:
                return Ending.INITIALIZATION_FAILURE;
            case 1: // Its own exit.
            case 3: // Memory pressure.
            case 8: // A permission was taken away.
            case 9: // It used too much of something.
            case 10: // The user removed it or stopped it.
            case 11: // The user was stopped.
            case 12: // A process that it depends on ended.
            case 13: // The system had a reason of its own.
            case 14: // It was frozen.
            case 15: // A component or the app was disabled.
            case 16: // The app was updated.
                return Ending.EXPLAINED;
            default:
                // Unknown, not listed, or a signal: where the kernel kills for memory, it may look like that.
                return Ending.UNEXPLAINED;
        }
    }
}
