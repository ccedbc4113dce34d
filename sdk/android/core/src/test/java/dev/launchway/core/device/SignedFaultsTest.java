/** A phone of an app with a root gets its signed update whatever fails on the way, and forgets nothing that it has verified. */
package dev.launchway.core.device;

import dev.launchway.core.boot.Content;
import dev.launchway.core.boot.Ending;
import dev.launchway.core.net.Network;
import dev.launchway.core.testing.Check;
import dev.launchway.core.testing.MemoryDisk;
import dev.launchway.core.testing.MemoryDisk.Fault;
import dev.launchway.core.testing.MemoryDisk.Leaves;
import dev.launchway.core.testing.Phone;
import dev.launchway.core.text.Utf8;
import java.io.IOException;

public final class SignedFaultsTest {
    private static final String SNAPSHOT = "1795255201";

    private final SignedServer server = new SignedServer();

    public SignedFaultsTest() throws Exception {}

    /** A start, a round, and the next start. */
    private void live(MemoryDisk disk, Network network) throws IOException {
        try (Device device = server.phone(disk).process(network)) {
            device.start(Phone.launch(Ending.EXPLAINED));
            tryToSync(device);
            Content content = device.start(Phone.launch(Ending.EXPLAINED)).content;
            Check.that(content.isEmbedded() || content.slot().equals(server.sha256), "only the signed update runs");
        }
    }

    private static void tryToSync(Device device) {
        try {
            device.sync(Phone.NOBODY);
        } catch (SyncException failed) {
            return;
        }
    }

    private void expectUpdate(MemoryDisk disk, String about) throws Exception {
        for (int count = 0; count < 4; count++) {
            try (Device device = server.phone(disk).process(server)) {
                Content content = device.start(Phone.launch(Ending.EXPLAINED)).content;
                device.confirm();
                SyncOutcome.Kind kind = device.sync(Phone.NOBODY).kind;
                if (kind == SyncOutcome.Kind.NOTHING && server.sha256.equals(content.slot())) {
                    return;
                }
            }
        }
        throw new AssertionError(about + ": the update never runs");
    }

    private static boolean knowsSnapshot(MemoryDisk disk) {
        byte[] state = disk.bytes("state.json");
        return state != null && Utf8.decode(state).contains("\\\\\\\"version\\\\\\\":" + SNAPSHOT);
    }

    /** Every fifth call has one kind of fault in turn, because signatures take their time to verify. */
    public void aFaultOfTheStorageDelaysASignedUpdateOnly() throws Exception {
        MemoryDisk whole = new MemoryDisk();
        live(whole, server);
        Check.that(knowsSnapshot(whole), "it is remembered");
        boolean known = false;
        for (int call = 1; call <= whole.calls(); call += 5) {
            Fault fault = Fault.values()[call / 5 % Fault.values().length];
            MemoryDisk disk = new MemoryDisk().withFault(call, fault);
            live(disk, server);
            MemoryDisk left = disk.afterDeath(fault == Fault.DIES ? Leaves.FLUSHED : Leaves.EVERYTHING);
            if (fault == Fault.DIES) {
                Check.that(knowsSnapshot(left) || !known, "a power cut at call " + call + " takes nothing back");
                known = knowsSnapshot(left);
            }
            expectUpdate(left, fault + " at call " + call);
        }
        Check.that(known, "it is remembered in the end");
    }

    public void aFaultOfTheNetworkDelaysASignedUpdateOnly() throws Exception {
        FaultyNetwork counted = new FaultyNetwork(server, 0, false, 0);
        live(new MemoryDisk(), counted);
        Check.that(counted.calls >= 8, counted.calls + " requests");
        for (int call = 1; call <= counted.calls; call++) {
            for (int bytes : new int[] {-1, 100}) {
                for (boolean isForEver : new boolean[] {false, true}) {
                    MemoryDisk disk = new MemoryDisk();
                    live(disk, new FaultyNetwork(server, call, isForEver, bytes));
                    expectUpdate(disk, "request " + call + ", " + bytes + " bytes");
                }
            }
        }
    }
}
