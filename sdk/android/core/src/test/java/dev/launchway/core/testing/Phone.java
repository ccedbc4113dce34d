/** A phone with the app `com.example.app` 1.0.0: its disk and clock, and processes that run on them. */
package dev.launchway.core.testing;

import dev.launchway.core.boot.Binary;
import dev.launchway.core.boot.Ending;
import dev.launchway.core.device.Device;
import dev.launchway.core.device.Launch;
import dev.launchway.core.device.Ports;
import dev.launchway.core.device.RandomBytes;
import dev.launchway.core.device.RoundListener;
import dev.launchway.core.device.Settings;
import dev.launchway.core.device.SignedTrust;
import dev.launchway.core.device.UpdateTrust;
import dev.launchway.core.net.Network;
import dev.launchway.core.storage.Storage;
import java.io.IOException;
import java.util.Arrays;

public final class Phone {
    /** For rounds whose progress does not matter. */
    public static final RoundListener NOBODY = RoundListener.NOBODY;

    public Storage storage;
    public final TestClock clock = new TestClock();
    public final Settings settings = new Settings("https://host/api", "com.example.app", "1.0.0");
    /** The trust file that the app carries, and when it was built; null: it carries none. */
    public byte[] trustFile;
    public long builtAt;

    public Phone() {
        this(new MemoryDisk());
    }

    public Phone(Storage storage) {
        this.storage = storage;
        settings.configuration = "production";
    }

    /** A process of the app. Its random bytes are all 7. */
    public Device process(Network network) throws IOException {
        Ports ports = new Ports(storage, network, clock, new RandomBytes() {
            @Override
            public byte[] next(int count) {
                byte[] bytes = new byte[count];
                Arrays.fill(bytes, (byte) 7);
                return bytes;
            }
        });
        UpdateTrust.Opener trust = trustFile == null
                ? UpdateTrust.WITHOUT_ROOT
                : SignedTrust.of(ports, settings, trustFile, builtAt);
        return Device.open(ports, settings, trust);
    }

    /** A start with a window. */
    public static Launch launch(Ending ending) {
        return new Launch(new Binary("1", "1.0.0", 1), true, ending);
    }
}
