/** The platform that a client runs on. */
package dev.launchway.core.device;

import dev.launchway.core.net.Network;
import dev.launchway.core.storage.Storage;

public final class Ports {
    /** The client's own folder. */
    public final Storage storage;
    public final Network network;
    public final Clock clock;
    public final RandomBytes random;

    public Ports(Storage storage, Network network, Clock clock, RandomBytes random) {
        this.storage = storage;
        this.network = network;
        this.clock = clock;
        this.random = random;
    }
}
