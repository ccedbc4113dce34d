/** A phone with the app `com.example.app` 1.0.0: its disk and clock, and processes that run on them. */
package dev.launchway.core.device;

import dev.launchway.core.boot.Binary;
import dev.launchway.core.boot.Ending;
import dev.launchway.core.net.Network;
import dev.launchway.core.testing.TemporaryFolder;
import java.io.Closeable;
import java.io.IOException;
import java.util.Arrays;

final class Phone implements Closeable {
    final TemporaryFolder folder = new TemporaryFolder();
    final TestClock clock = new TestClock();
    final Settings settings = new Settings("https://host/api", "com.example.app", "1.0.0");
    /** The trust file that the app carries, and when it was built; null: it carries none. */
    byte[] trustFile;
    long builtAt;

    Phone() throws IOException {
        settings.configuration = "production";
    }

    /** A process of the app. Its random bytes are all 7. */
    Device process(Network network) throws IOException {
        Ports ports = new Ports(folder.storage, network, clock, new RandomBytes() {
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

    static Launch launch(Ending ending) {
        return new Launch(new Binary("1", "1.0.0", 1), true, ending);
    }

    @Override
    public void close() throws IOException {
        folder.close();
    }
}
