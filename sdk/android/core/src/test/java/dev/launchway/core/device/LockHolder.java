/** A process of the app that holds the lock of a folder until it is killed. It prints `m` if it decides, else `f`. */
package dev.launchway.core.device;

import dev.launchway.core.testing.FakeServer;
import dev.launchway.core.testing.Phone;
import dev.launchway.core.testing.TemporaryFolder;
import java.io.File;

public final class LockHolder {
    private LockHolder() {}

    public static void main(String[] arguments) throws Exception {
        try (Device device = new Phone(TemporaryFolder.at(new File(arguments[0]))).process(new FakeServer())) {
            System.out.write(device.isMain() ? 'm' : 'f');
            System.out.flush();
            // Nobody writes: this returns when the parent ends.
            System.in.read();
        }
    }
}
