/** An app with a root takes nothing that its developers did not sign, however the server or its own files fail. */
package dev.launchway.core.device;

import dev.launchway.core.boot.Content;
import dev.launchway.core.boot.Ending;
import dev.launchway.core.json.JsonValue;
import dev.launchway.core.net.Network;
import dev.launchway.core.net.Request;
import dev.launchway.core.net.Response;
import dev.launchway.core.testing.Check;
import dev.launchway.core.testing.MemoryDisk;
import dev.launchway.core.testing.Phone;
import dev.launchway.core.text.Utf8;
import java.io.IOException;
import java.util.HashSet;
import java.util.Set;

public final class SignedTrustTest {
    private static final long YEAR = 365L * 24 * 60 * 60 * 1000;

    private final SignedServer server;
    private final Phone phone;

    public SignedTrustTest() throws Exception {
        server = new SignedServer();
        phone = server.phone(new MemoryDisk());
    }

    public void metadataIsFetchedFileByFileWhereThereIsNoOneTrip() throws Exception {
        Check.equal("STAGED", round());
        Check.that(server.requests.contains("https://host/tuf/com.example.app/2.root.json"), "asked for the next root");
        Check.that(start().slot() != null, "the update runs");
    }

    public void anAnswerThatIsNoMetadataMakesTheClientAskForFiles() throws Exception {
        server.oneTripStatus = 200;
        server.oneTrip = Utf8.encode("<html>");
        Check.equal("STAGED", round());
    }

    public void aServerErrorEndsTheRoundWithoutARefusal() throws Exception {
        server.oneTripStatus = 500;
        Check.equal("UNVERIFIED null", round());
        Check.that(!server.requests.toString().contains("/update/report/"), "nothing to report");
    }

    public void anEndlessFileOfMetadataIsRefused() throws Exception {
        server.files.put("timestamp.json", new byte[8 << 20]);
        Check.equal("UNVERIFIED malformed", round());
    }

    public void anUnreadableTrustFileTakesAndStartsNothing() throws Exception {
        Check.equal("STAGED", round());
        Check.that(start().slot() != null, "the update runs");
        for (String text : new String[] {"", "{}", "{\"root\":\"{}\"}", new String(new char[300_000])}) {
            phone.trustFile = Utf8.encode(text);
            Check.equal(Content.EMBEDDED, start());
            Check.equal("UNVERIFIED malformed", round());
        }
    }

    public void aConfigurationThatIsNoneTakesNothing() throws Exception {
        phone.settings.configuration = "../production";
        Check.equal("UNVERIFIED malformed", round());
    }

    public void whatWasLearnedIsKeptWhenALaterFileIsRefused() throws Exception {
        byte[] role = server.files.put("2.c-production.json", Utf8.encode("{}"));
        Check.equal("UNVERIFIED malformed", round());
        server.files.put("2.c-production.json", role);
        server.requests.clear();
        Check.equal("STAGED", round());
        Check.that(!server.requests.toString().contains("snapshot.json"), "the snapshot was kept");
    }

    public void aClockThatIsAYearSlowTrustsTheTimeOfTheBuild() throws Exception {
        phone.clock.now -= YEAR;
        Check.equal("STAGED", round());
    }

    public void aClockThatIsAYearFastStopsUpdatesAndNothingElse() throws Exception {
        Check.equal("STAGED", round());
        Content update = start();
        Check.that(update.slot() != null, "the update runs");
        phone.clock.now += YEAR;
        Check.equal(update, start());
        Check.equal("UNVERIFIED expired", round());
        phone.clock.now -= YEAR;
        Check.equal("NOTHING", round());
        Check.equal(update, start());
    }

    /** A process that ends before the next file has come must not forget what it has verified. */
    public void aFileIsStoredBeforeTheNextOneIsFetched() throws Exception {
        expectStored("1795255201.snapshot.json", "timestamp", "1.targets.json", "snapshot", "2.c-production.json", "targets");
    }

    public void anAnswerIsStoredBeforeAMissingFileIsFetched() throws Exception {
        server.oneTripStatus = 200;
        server.oneTrip = server.oneTripWithoutRole();
        expectStored("2.c-production.json", "timestamp", "2.c-production.json", "snapshot");
    }

    /** {@code files} are names of files that are requested, and the roles that are stored by then. */
    private void expectStored(final String... files) throws Exception {
        final MemoryDisk disk = new MemoryDisk();
        final Set<String> requested = new HashSet<String>();
        Network network = new Network() {
            @Override
            public Response send(Request request) throws IOException {
                for (int at = 0; at < files.length; at += 2) {
                    if (request.url.endsWith("/" + files[at])) {
                        requested.add(files[at]);
                        JsonValue stored = server.stored(disk);
                        Check.that(stored.get(files[at + 1]) != null, files[at + 1] + " before " + files[at]);
                    }
                }
                return server.send(request);
            }

            @Override
            public boolean isUnmetered() {
                return true;
            }
        };
        try (Device device = server.phone(disk).process(network)) {
            device.start(Phone.launch(Ending.EXPLAINED));
            Check.equal(SyncOutcome.Kind.STAGED, device.sync(Phone.NOBODY).kind);
        }
        for (int at = 0; at < files.length; at += 2) {
            Check.that(requested.contains(files[at]), files[at] + " is requested");
        }
    }

    private Content start() throws IOException {
        try (Device device = phone.process(server)) {
            return device.start(Phone.launch(Ending.EXPLAINED)).content;
        }
    }

    /** The kind of the outcome, or of the failure with the code of the refusal. */
    private String round() throws Exception {
        start();
        try (Device device = phone.process(server)) {
            return device.sync(Phone.NOBODY).kind.name();
        } catch (SyncException failure) {
            TrustException cause = (TrustException) failure.getCause();
            return failure.kind + " " + (cause.refusal() == null ? null : cause.refusal().code());
        }
    }
}
