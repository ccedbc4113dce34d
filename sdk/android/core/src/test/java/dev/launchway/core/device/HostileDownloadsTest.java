/** Whatever a storage server answers, nothing but the announced bytes is installed, and a good answer later brings them. */
package dev.launchway.core.device;

import dev.launchway.core.boot.Content;
import dev.launchway.core.boot.Ending;
import dev.launchway.core.net.Request;
import dev.launchway.core.net.Response;
import dev.launchway.core.testing.Check;
import dev.launchway.core.testing.FakeServer;
import dev.launchway.core.testing.MemoryDisk;
import dev.launchway.core.testing.Phone;
import dev.launchway.core.testing.Update;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

public final class HostileDownloadsTest {
    private static final Update UPDATE = Update.number(1);
    private static final int SIZE = UPDATE.bytes.length;
    /** So many bytes are there before a hostile answer. */
    private static final int HERE = 300;

    /** A body without an end. */
    private static final class Endless extends InputStream {
        @Override
        public int read() {
            return 'x';
        }

        @Override
        public int read(byte[] buffer, int offset, int count) {
            Arrays.fill(buffer, offset, offset + count, (byte) 'x');
            return count;
        }
    }

    private static FakeServer.Trouble always(final int status, final byte[] body, final String... headers) {
        return new FakeServer.Trouble() {
            @Override
            public Response send(Request request, byte[] whole) {
                return FakeServer.answer(status, body, headers);
            }
        };
    }

    private static FakeServer.Trouble endless(final int status, final byte[] start, final String... headers) {
        return new FakeServer.Trouble() {
            @Override
            public Response send(Request request, byte[] whole) {
                InputStream body = new SequenceInputStream(new ByteArrayInputStream(start), new Endless());
                return FakeServer.answer(status, body, headers);
            }
        };
    }

    private static byte[] from(int start) {
        return Arrays.copyOfRange(UPDATE.bytes, start, SIZE);
    }

    private static FakeServer.Trouble range(String range) {
        return always(206, from(HERE), "Content-Range", range, "ETag", FakeServer.etag(UPDATE.bytes));
    }

    /** Answers that never bring the package, by what is wrong with them. */
    private static Map<String, FakeServer.Trouble> hostileAnswers() {
        byte[] garbled = UPDATE.bytes.clone();
        garbled[SIZE / 2] ^= 1;
        String rest = "-" + (SIZE - 1) + "/" + SIZE;
        Map<String, FakeServer.Trouble> answers = new LinkedHashMap<String, FakeServer.Trouble>();
        answers.put("a range that begins later", range("bytes " + (HERE + 1) + rest));
        answers.put("a range that begins earlier", range("bytes " + (HERE - 1) + rest));
        answers.put("a range of another size", range("bytes " + HERE + "-" + SIZE + "/" + (SIZE + 1)));
        answers.put("a range without its end", range("bytes " + HERE + "-/" + SIZE));
        answers.put("a range of other units", range("items " + HERE + rest));
        answers.put("a range that ends before it begins", range("bytes " + HERE + "-1/" + SIZE));
        answers.put("a range with a sign", range("bytes +" + HERE + rest));
        answers.put("a range beyond all numbers", range("bytes 99999999999999999999" + rest));
        answers.put("a range that is none", range("bytes */" + SIZE));
        answers.put("a range that is empty", range(""));
        answers.put("a part without a range", always(206, from(HERE)));
        answers.put("a part with other bytes", always(206, new byte[SIZE - HERE], "Content-Range", "bytes " + HERE + rest));
        answers.put("a part that nobody asked for", always(206, from(0), "Content-Range", "bytes 0" + rest));
        answers.put("a range that cannot be satisfied", always(416, new byte[0]));
        answers.put("nothing", always(200, new byte[0]));
        answers.put("too few bytes", always(200, Arrays.copyOf(UPDATE.bytes, SIZE - 1)));
        answers.put("too many bytes", always(200, Arrays.copyOf(UPDATE.bytes, SIZE + 1)));
        answers.put("other bytes", always(200, garbled));
        answers.put("a page", always(200, "<html>".getBytes()));
        answers.put("bytes without an end", endless(200, new byte[0]));
        answers.put("the package and bytes without an end", endless(200, UPDATE.bytes));
        answers.put("a part without an end", endless(206, from(HERE), "Content-Range", "bytes " + HERE + rest));
        answers.put("an encoding", always(200, UPDATE.bytes, "Content-Encoding", "gzip"));
        answers.put("two encodings", always(200, UPDATE.bytes, "Content-Encoding", "identity, br"));
        answers.put("an encoded part", always(206, from(HERE), "Content-Range", "bytes " + HERE + rest,
                "Content-Encoding", "deflate"));
        for (int status : new int[] {0, 1, 100, 204, 205, 301, 302, 304, 307, 402, 418, 429, 500, 503, 599, 999}) {
            answers.put("status " + status, always(status, UPDATE.bytes, "Location", "file:///etc/passwd"));
        }
        for (int status : new int[] {400, 401, 403, 404, 410}) {
            answers.put("status " + status, endless(status, new byte[0]));
        }
        return answers;
    }

    /** A device with the beginning of the package, which asks for a range next. */
    private static Device open(MemoryDisk disk, FakeServer server) throws Exception {
        Device device = new Phone(disk).process(server);
        device.start(Phone.launch(Ending.EXPLAINED));
        server.troubles.add(FakeServer.breaksAfter(HERE));
        return device;
    }

    public void aHostileAnswerDelaysTheUpdateOnly() throws Exception {
        for (Map.Entry<String, FakeServer.Trouble> hostile : hostileAnswers().entrySet()) {
            MemoryDisk disk = new MemoryDisk();
            FakeServer server = new FakeServer(UPDATE);
            try (Device device = open(disk, server)) {
                server.troubles.add(hostile.getValue());
                for (int rounds = 0; rounds < 3 && device.status().state.boot.next == null; rounds++) {
                    tryToSync(device);
                }
                Check.equal(UPDATE.content(), start(device), hostile.getKey());
            }
        }
    }

    public void aServerThatIsAlwaysHostileInstallsNothing() throws Exception {
        Map<String, FakeServer.Trouble> answers = hostileAnswers();
        Check.that(answers.size() >= 40, answers.size() + " answers");
        for (Map.Entry<String, FakeServer.Trouble> hostile : answers.entrySet()) {
            MemoryDisk disk = new MemoryDisk();
            FakeServer server = new FakeServer(UPDATE);
            try (Device device = open(disk, server)) {
                for (int count = 0; count < 40; count++) {
                    server.troubles.add(hostile.getValue());
                }
                tryToSync(device);
                Check.that(server.downloads().size() <= 8, hostile.getKey() + ": " + server.downloads().size());
                for (byte[] part : disk.filesBelow("tmp").values()) {
                    Check.that(part.length <= SIZE, hostile.getKey() + ": " + part.length + " bytes are kept");
                }
                Check.equal(Content.EMBEDDED, start(device), hostile.getKey());
                Check.that(disk.filesBelow("slots").isEmpty(), hostile.getKey());
            }
        }
    }

    public void hostileValidatorsAreNotSentBack() throws Exception {
        String[] etags = {
            "W/\"weak\"", "unquoted", "\"", "\"\"", "\"a\r\nx: y\"", "\"\u00e9\"", "\"a b\"",
            "\"" + new String(new char[300]).replace('\0', 'a') + "\"",
        };
        for (final String etag : etags) {
            FakeServer server = new FakeServer(UPDATE);
            try (Device device = new Phone().process(server)) {
                device.start(Phone.launch(Ending.EXPLAINED));
                server.troubles.add(always(200, Arrays.copyOf(UPDATE.bytes, HERE), "ETag", etag));
                Check.equal(SyncOutcome.Kind.STAGED, device.sync(Phone.NOBODY).kind, etag);
                Check.equal(null, server.downloads().get(1).headers.get("if-range"), etag);
                Check.equal(null, server.downloads().get(1).headers.get("range"), etag);
            }
        }
    }

    public void answersToChecksAndReportsAreBounded() throws Exception {
        for (int status : new int[] {0, 204, 301, 304, 400, 401, 403, 404, 429, 500, 503, 999}) {
            FakeServer server = new FakeServer(UPDATE);
            server.checkStatus = status;
            server.reportStatus = status;
            try (Device device = new Phone().process(server)) {
                device.start(Phone.launch(Ending.EXPLAINED));
                expectCheckFailure(device, "status " + status);
                server.checkStatus = 200;
                Check.equal(SyncOutcome.Kind.STAGED, device.sync(Phone.NOBODY).kind);
                Check.equal(UPDATE.content(), start(device));
            }
        }
        FakeServer server = new FakeServer();
        server.says = new byte[(256 << 10) + 1];
        Arrays.fill(server.says, (byte) ' ');
        try (Device device = new Phone().process(server)) {
            device.start(Phone.launch(Ending.EXPLAINED));
            expectCheckFailure(device, "an answer that is too long");
        }
    }

    private static void expectCheckFailure(Device device, String about) {
        try {
            device.sync(Phone.NOBODY);
        } catch (SyncException failure) {
            Check.equal(SyncException.Kind.CHECK, failure.kind, about);
            return;
        }
        throw new AssertionError(about);
    }

    private static void tryToSync(Device device) {
        try {
            device.sync(Phone.NOBODY);
        } catch (SyncException failed) {
            return;
        }
    }

    private static Content start(Device device) {
        return device.start(Phone.launch(Ending.EXPLAINED)).content;
    }
}
