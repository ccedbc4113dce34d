/** What runs, as the check reports it. */
package dev.launchway.core.device;

import dev.launchway.core.versions.BuildNumber;
import dev.launchway.core.versions.Version;

public final class Running {
    public final String version;
    public final String build;
    /** An update's id, or `embedded:<build>`. */
    public final String updateId;

    Running(String version, String build, String updateId) {
        this.version = version;
        this.build = build;
        this.updateId = updateId;
    }

    /** Whether an offer is newer: a higher version, or the same with a higher build number. */
    boolean isOlderThan(Offer offer) {
        Version current = Version.parse(version);
        if (current == null) {
            // The server has compared; a binary with a version of its own kind leaves it to the server.
            return true;
        }
        int order = Version.parse(offer.version).compareTo(current);
        return order > 0 || (order == 0 && BuildNumber.isNewer(BuildNumber.parse(offer.buildNumber), build));
    }
}
