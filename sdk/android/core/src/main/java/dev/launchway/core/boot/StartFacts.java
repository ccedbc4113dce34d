/** What is known at a start. */
package dev.launchway.core.boot;

import dev.launchway.core.digest.Sha256;
import java.io.IOException;

public final class StartFacts {
    /** Answers questions about packages. They are asked only where the answer matters, because hashing takes time. */
    public interface Packages {
        /** Whether a package is revoked. */
        boolean isRevoked(Sha256 slot);

        /**
         * Whether a package can be handed over. {@code first} says that it starts for the first time.
         *
         * @throws IOException if the storage cannot be read, so that nobody knows
         */
        Soundness soundness(Sha256 slot, boolean first) throws IOException;
    }

    /** The store binary that starts. */
    public final Binary binary;
    /** Whether the start shows a window. */
    public final boolean window;
    /** How the previous process ended. */
    public final Ending ending;

    public final Packages packages;

    public StartFacts(Binary binary, boolean window, Ending ending, Packages packages) {
        this.binary = binary;
        this.window = window;
        this.ending = ending;
        this.packages = packages;
    }
}
