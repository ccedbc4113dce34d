/** What a round with the server has found. */
package dev.launchway.core.device;

import dev.launchway.core.digest.Sha256;

final class Finding {
    final CheckAnswer answer;
    /** Whether the offer failed before on this binary. */
    final boolean isQuarantined;
    /** The digest that the offer's file list must have; null if it is not known. */
    final Sha256 manifest;

    private Finding(CheckAnswer answer, boolean isQuarantined, Sha256 manifest) {
        this.answer = answer;
        this.isQuarantined = isQuarantined;
        this.manifest = manifest;
    }

    static Finding nothing(CheckAnswer answer) {
        return new Finding(answer, false, null);
    }

    static Finding quarantined(CheckAnswer answer) {
        return new Finding(answer, true, null);
    }

    static Finding permitted(CheckAnswer answer, Sha256 manifest) {
        return new Finding(answer, false, manifest);
    }
}
