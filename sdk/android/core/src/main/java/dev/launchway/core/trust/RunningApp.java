/** The app that asks, as it knows itself. */
package dev.launchway.core.trust;

import dev.launchway.core.versions.Version;

public final class RunningApp {
    final Platform platform;
    final String fingerprint;
    final Version version;
    final String build;

    /**
     * @param fingerprint the hash of its fingerprint; null if it has none
     * @param version the version of the content that runs
     * @param build the build of the content that runs; null if it has none
     */
    public RunningApp(Platform platform, String fingerprint, Version version, String build) {
        this.platform = platform;
        this.fingerprint = fingerprint;
        this.version = version;
        this.build = build;
    }
}
