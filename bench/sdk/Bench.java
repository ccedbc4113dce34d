/**
 * Measures the client in Java on this machine's JVM; `bench/sdk/run` starts it. `prepare DIR` installs a signed update in the
 * folder of a client, `start DIR` hands it over in a fresh process, `package DIR MIB` verifies and unpacks a package.
 */
import dev.launchway.core.boot.Binary;
import dev.launchway.core.boot.Ending;
import dev.launchway.core.device.Clock;
import dev.launchway.core.device.Device;
import dev.launchway.core.device.Launch;
import dev.launchway.core.device.Ports;
import dev.launchway.core.device.RandomBytes;
import dev.launchway.core.device.RoundListener;
import dev.launchway.core.device.Settings;
import dev.launchway.core.device.SignedTrust;
import dev.launchway.core.device.StartOutcome;
import dev.launchway.core.digest.Sha256;
import dev.launchway.core.json.JsonReader;
import dev.launchway.core.json.JsonValue;
import dev.launchway.core.net.Network;
import dev.launchway.core.net.Request;
import dev.launchway.core.net.Response;
import dev.launchway.core.slots.Slots;
import dev.launchway.core.storage.Folder;
import dev.launchway.core.storage.FolderSync;
import dev.launchway.core.text.Hex;
import dev.launchway.core.text.Utf8;
import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

public final class Bench {
    private static final int MAX_VECTORS = 64 << 20;
    private static final int ROUNDS = 7;

    public static void main(String[] arguments) throws Exception {
        File folder = new File(arguments[1]);
        switch (arguments[0]) {
            case "prepare":
                prepare(folder);
                break;
            case "start":
                start(folder);
                break;
            default:
                measurePackage(folder, Integer.parseInt(arguments[2]));
        }
    }

    /** The responses of a recorded round, in their order. */
    private static final class RecordedServer implements Network {
        private final Iterator<JsonValue> exchanges;
        private final List<JsonValue> bodies;

        RecordedServer(List<JsonValue> exchanges, List<JsonValue> bodies) {
            this.exchanges = exchanges.iterator();
            this.bodies = bodies;
        }

        @Override
        public Response send(Request request) {
            JsonValue exchange = exchanges.next();
            Map<String, List<String>> headers = new TreeMap<String, List<String>>();
            if (exchange.get("etag") != null) {
                headers.put("ETag", Collections.singletonList(exchange.get("etag").asText()));
            }
            JsonValue body = bodies.get(exchange.get("body").asInteger().intValue());
            byte[] bytes = body.asText() == null ? Hex.decode(body.get("hex").asText()) : Utf8.encode(body.asText());
            int status = exchange.get("status").asInteger().intValue();
            return new Response(status, headers, new ByteArrayInputStream(bytes));
        }

        @Override
        public boolean isUnmetered() {
            return true;
        }
    }

    private static final FolderSync FOLDER_SYNC = new FolderSync() {
        @Override
        public void sync(File folder) throws IOException {
            try (FileChannel channel = FileChannel.open(folder.toPath())) {
                channel.force(true);
            }
        }
    };

    /** A client of the app in the vectors. Its clock stands still. */
    private static Device open(File folder, String trustFile, long builtAt, final long now, Network network)
            throws IOException {
        Clock clock = new Clock() {
            @Override
            public long now() {
                return now;
            }

            @Override
            public void pause(long milliseconds) {}
        };
        RandomBytes random = new RandomBytes() {
            @Override
            public byte[] next(int count) {
                byte[] bytes = new byte[count];
                Arrays.fill(bytes, (byte) 7);
                return bytes;
            }
        };
        Ports ports = new Ports(Folder.open(folder, FOLDER_SYNC), network, clock, random);
        Settings settings = new Settings("https://host/api", "com.example.app", "1.0.0");
        settings.configuration = "production";
        return Device.open(ports, settings, SignedTrust.of(ports, settings, Utf8.encode(trustFile), builtAt));
    }

    private static Launch launch(long builtAt) {
        return new Launch(new Binary("1", "1.0.0", builtAt), true, Ending.EXPLAINED);
    }

    /** Plays the first recorded trace that ends with an update that runs. */
    private static void prepare(File folder) throws Exception {
        byte[] bytes = Files.readAllBytes(Paths.get(System.getProperty("vectors")));
        JsonValue vectors = JsonReader.read(bytes, MAX_VECTORS);
        JsonValue trace = vectors.get("traces").asArray().get(0);
        String trustFile = trace.get("trustFile").asText();
        long builtAt = trace.get("builtAt").asInteger();
        List<JsonValue> none = Collections.emptyList();
        try (Device device = open(folder, trustFile, builtAt, builtAt, new RecordedServer(none, none))) {
            device.start(launch(builtAt));
        }
        StartOutcome last = null;
        long now = builtAt;
        for (JsonValue step : trace.get("steps").asArray()) {
            now = step.get("now").asInteger();
            boolean isSync = step.get("do").asText().equals("sync");
            Network network = new RecordedServer(
                    isSync ? step.get("http").asArray() : none, vectors.get("bodies").asArray());
            try (Device device = open(folder, trustFile, builtAt, now, network)) {
                if (isSync) {
                    device.sync(RoundListener.NOBODY);
                } else {
                    last = device.start(launch(builtAt));
                    device.confirm();
                }
            }
            if (last != null && last.folder != null) {
                break;
            }
        }
        String app = builtAt + "\n" + now + "\n" + trustFile;
        Files.write(new File(folder, "bench-app").toPath(), Utf8.encode(app));
    }

    private static void start(File folder) throws Exception {
        long main = System.currentTimeMillis();
        long before = System.nanoTime();
        String[] app = Utf8.decode(Files.readAllBytes(new File(folder, "bench-app").toPath())).split("\n", 3);
        List<JsonValue> none = Collections.emptyList();
        Network nobody = new RecordedServer(none, none);
        long builtAt = Long.parseLong(app[0]);
        try (Device device = open(folder, app[2], builtAt, Long.parseLong(app[1]), nobody)) {
            StartOutcome outcome = device.start(launch(builtAt));
            long took = System.nanoTime() - before;
            if (outcome.folder == null) {
                throw new IllegalStateException("the embedded app runs: " + outcome.problem);
            }
            long jvm = main - ManagementFactory.getRuntimeMXBean().getStartTime();
            System.out.println(jvm + " " + took / 1e6);
        }
    }

    private static void measurePackage(File folder, int mebibytes) throws Exception {
        File file = new File(folder, "tmp/package.zip");
        file.getParentFile().mkdirs();
        writePackage(file, mebibytes);
        double[] hashing = new double[ROUNDS];
        double[] unpacking = new double[ROUNDS];
        Sha256 digest = null;
        for (int round = 0; round < ROUNDS; round++) {
            long before = System.nanoTime();
            digest = hash(file);
            hashing[round] = (System.nanoTime() - before) / 1e6;
            before = System.nanoTime();
            new Slots(Folder.open(folder, FOLDER_SYNC), "index.html").install("tmp/package.zip", digest, null);
            unpacking[round] = (System.nanoTime() - before) / 1e6;
        }
        Arrays.sort(hashing);
        Arrays.sort(unpacking);
        System.out.printf(
                "%d MiB in %d files: SHA-256 of the package %.0f ms, unpacking with the SHA-256 of each file %.0f ms%n",
                mebibytes, mebibytes * 4, hashing[ROUNDS / 2], unpacking[ROUNDS / 2]);
    }

    private static Sha256 hash(File file) throws Exception {
        MessageDigest hash = Sha256.newHash();
        byte[] buffer = new byte[64 << 10];
        try (InputStream input = Files.newInputStream(file.toPath())) {
            for (int count = input.read(buffer); count >= 0; count = input.read(buffer)) {
                hash.update(buffer, 0, count);
            }
        }
        return Sha256.fromBytes(hash.digest());
    }

    /** Files of 256 KiB, half of them noise and half of them text, as pictures and scripts are. */
    private static void writePackage(File file, int mebibytes) throws IOException {
        Random random = new Random(1);
        try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(file.toPath()))) {
            zip.putNextEntry(new ZipEntry("index.html"));
            zip.write(Utf8.encode("<p>Hello</p>"));
            for (int number = 0; number < mebibytes * 4; number++) {
                byte[] bytes = new byte[256 << 10];
                random.nextBytes(bytes);
                for (int at = 0; number % 2 == 1 && at < bytes.length; at++) {
                    bytes[at] = (byte) ('a' + (bytes[at] & 7));
                }
                zip.putNextEntry(new ZipEntry("assets/" + number + ".bin"));
                zip.write(bytes);
            }
        }
    }
}
