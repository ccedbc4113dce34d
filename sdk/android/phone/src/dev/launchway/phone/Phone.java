/** The client in Java as a phone for the terminal: what `launchway device` does with the client in Rust. */
package dev.launchway.phone;

import dev.launchway.core.boot.Ending;
import dev.launchway.core.device.Clock;
import dev.launchway.core.device.Device;
import dev.launchway.core.device.Ports;
import dev.launchway.core.device.RandomBytes;
import dev.launchway.core.device.RoundListener;
import dev.launchway.core.device.Settings;
import dev.launchway.core.device.Status;
import dev.launchway.core.device.SyncException;
import dev.launchway.core.device.SyncOutcome;
import dev.launchway.core.net.HttpNetwork;
import dev.launchway.core.storage.Folder;
import dev.launchway.core.storage.FolderSync;
import dev.launchway.core.storage.Storage;
import dev.launchway.core.text.Utf8;
import java.io.File;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.security.SecureRandom;

public final class Phone {
    private final Arguments arguments;
    private final Path directory;
    private final Path client;
    private final Clock clock = new Clock() {
        @Override
        public long now() {
            return System.currentTimeMillis();
        }

        @Override
        public void pause(long milliseconds) {
            try {
                Thread.sleep(milliseconds);
            } catch (InterruptedException ended) {
                Thread.currentThread().interrupt();
            }
        }
    };

    private Phone(Arguments arguments) {
        this.arguments = arguments;
        this.directory = Paths.get(arguments.option("--dir", "phone"));
        this.client = directory.resolve("client");
    }

    public static void main(String[] given) {
        try {
            Arguments arguments = new Arguments(given);
            View view = new Phone(arguments).run();
            byte[] shown = Utf8.encode(arguments.json ? view.json() : view.prose());
            System.out.write(shown, 0, shown.length);
            System.out.flush();
        } catch (Failure failure) {
            System.err.println("error: " + failure.getMessage());
            if (failure.hint != null) {
                System.err.println("hint: " + failure.hint);
            }
            System.exit(failure.exit);
        }
    }

    private View run() throws Failure {
        if (arguments.command.equals("init")) {
            new StoreApp(arguments, clock.now()).save(directory);
        }
        StoreApp app = StoreApp.load(directory);
        try (Device device = open(app)) {
            if (!device.isMain()) {
                throw Failure.failed("another command is using this phone", "wait until it ends");
            }
            return perform(device, app);
        } catch (SyncException error) {
            throw Failure.of(error);
        } catch (IOException error) {
            throw Failure.storage(error);
        }
    }

    private Device open(StoreApp app) throws Failure, IOException {
        HttpNetwork.Metering free = new HttpNetwork.Metering() {
            @Override
            public boolean isUnmetered() {
                return true;
            }
        };
        FolderSync folderSync = new FolderSync() {
            @Override
            public void sync(File folder) throws IOException {
                try (FileChannel channel = FileChannel.open(folder.toPath())) {
                    channel.force(true);
                }
            }
        };
        RandomBytes random = new RandomBytes() {
            @Override
            public byte[] next(int count) {
                byte[] bytes = new byte[count];
                new SecureRandom().nextBytes(bytes);
                return bytes;
            }
        };
        HttpNetwork network = new HttpNetwork(free, arguments.timeoutMs());
        Storage storage = DyingStorage.around(Folder.open(client.toFile(), folderSync));
        Ports ports = new Ports(storage, network, clock, random);
        Settings settings = app.settings();
        return Device.open(ports, settings, app.trust(ports, settings));
    }

    /** Performs the command, and returns what the phone is like afterwards. */
    private View perform(Device device, StoreApp app) throws SyncException, IOException {
        View view = new View();
        switch (arguments.command) {
            case "check":
                view.answered(device.check());
                break;
            case "install":
                SyncOutcome outcome = device.sync(RoundListener.NOBODY);
                view.started(device.start(app.launch(Ending.EXPLAINED)));
                view.synced(outcome);
                break;
            case "confirm":
                view.confirmed(device.confirm());
                break;
            case "crash":
                device.markCrash(arguments.option("--stack", null));
                view.started(device.start(app.launch(Ending.CRASH)));
                break;
            case "report":
                view.reported(device.sendReports());
                break;
            case "status":
                break;
            default:
                view.started(device.start(app.launch(Ending.EXPLAINED)));
        }
        Status status = device.status();
        if (status != null) {
            view.add(status, client);
        }
        return view;
    }
}
