/** Collects what Android knows at a start, and starts the client with it. */
package dev.launchway;

import android.content.Context;
import android.net.ConnectivityManager;
import android.os.Build;
import dev.launchway.core.boot.Binary;
import dev.launchway.core.boot.Ending;
import dev.launchway.core.device.Clock;
import dev.launchway.core.device.Ports;
import dev.launchway.core.device.RandomBytes;
import dev.launchway.core.net.HttpNetwork;
import dev.launchway.core.session.AppFacts;
import dev.launchway.core.session.ErrorCode;
import dev.launchway.core.session.Options;
import dev.launchway.core.session.Session;
import dev.launchway.core.session.SessionException;
import dev.launchway.core.session.SessionPorts;
import dev.launchway.core.storage.Folder;
import java.io.File;
import java.io.IOException;
import java.security.SecureRandom;

final class ClientStart {
    private ClientStart() {}

    /** Starts the client; where it cannot start, the content of the binary runs. */
    static Session start(Context context) {
        SessionPorts ports = Threads.ports();
        try {
            if (Build.VERSION.SDK_INT >= 24 && !Api24.isUserUnlocked(context)) {
                String message = "the device has not been unlocked since it started; the next launch can use updates";
                throw new SessionException(ErrorCode.STORAGE, message);
            }
            return start(context, ports);
        } catch (SessionException problem) {
            return Session.off(problem, ports);
        } catch (IOException failure) {
            return Session.off(new SessionException(ErrorCode.STORAGE, failure.getMessage()), ports);
        } catch (RuntimeException unexpected) {
            // Whatever a manufacturer's Android throws, the app starts.
            return Session.off(new SessionException(ErrorCode.UNKNOWN, unexpected.toString()), ports);
        }
    }

    private static Session start(Context context, SessionPorts ports) throws SessionException, IOException {
        BinaryFiles files = new BinaryFiles(context);
        Options options = files.options();
        Binary binary = StoreBinary.of(context);
        AppFacts facts = new AppFacts(
                binary, context.getPackageName(), files.entryFile(), files.fingerprint(), files.trustFile());
        File root = new File(context.getNoBackupFilesDir(), "launchway");
        Folder storage = Folder.open(root, new DiskFolderSync());
        boolean mayDecide = AppProcess.isMain(context);
        LastProcess last = new LastProcess(storage.file("process"));
        Ending ending = mayDecide ? last.ending(context) : Ending.UNEXPLAINED;
        if (mayDecide) {
            last.replaceByThis();
        }
        Session.Start start = new Session.Start(mayDecide, mayDecide && AppProcess.hasWindow(), ending);
        return Session.start(facts, options, devicePorts(context, storage), storage.file(""), ports, start);
    }

    private static Ports devicePorts(final Context context, Folder storage) {
        HttpNetwork network = new HttpNetwork(new HttpNetwork.Metering() {
            @Override
            public boolean isUnmetered() {
                return ClientStart.isUnmetered(context);
            }
        });
        Clock clock = new Clock() {
            @Override
            public long now() {
                return System.currentTimeMillis();
            }

            @Override
            public void pause(long milliseconds) {
                Threads.pause(milliseconds);
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
        return new Ports(storage, network, clock, random);
    }

    static boolean isUnmetered(Context context) {
        try {
            ConnectivityManager manager =
                    (ConnectivityManager) context.getSystemService(Context.CONNECTIVITY_SERVICE);
            return manager != null && !manager.isActiveNetworkMetered();
        } catch (SecurityException notPermitted) {
            // Without the permission nobody knows, and a download may cost.
            return false;
        }
    }
}
