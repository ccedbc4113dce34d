/** The platform's HTTP client ends with an answer or an error, whatever arrives. */
package dev.launchway.core.net;

import dev.launchway.core.testing.Check;
import java.io.IOException;

public final class HttpNetworkTest {
    private static final int MAX = 1000;
    private static final String OK = "HTTP/1.1 200 OK\r\n";

    private final HttpNetwork network = new HttpNetwork(
            new HttpNetwork.Metering() {
                @Override
                public boolean isUnmetered() {
                    return true;
                }
            },
            200);

    /** The status and the length of the body, up to one byte too many; or `error`. */
    private String fetch(String answer, RawServer.Then then) throws IOException {
        try (RawServer server = new RawServer(answer, then);
                Response response = network.send(Request.forJson(server.url(), Caches.USED))) {
            return response.status + " " + response.readBody(MAX).length;
        } catch (IOException failure) {
            return "error";
        }
    }

    private void expect(String outcome, String answer) throws IOException {
        Check.equal(outcome, fetch(answer, RawServer.Then.CLOSES), answer);
    }

    public void wholeAnswersAreRead() throws Exception {
        expect("200 5", OK + "Content-Length: 5\r\n\r\nhello");
        expect("200 5", OK + "\r\nhello");
        expect("200 5", OK + "Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n");
        expect("404 2", "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno");
        expect("503 0", "HTTP/1.1 503 Gone\r\nContent-Length: 0\r\n\r\n");
    }

    public void redirectsAreNotFollowed() throws Exception {
        for (String target : new String[] {"http://127.0.0.1:1/", "file:///etc/passwd", "https://\u0000", ""}) {
            expect("302 0", "HTTP/1.1 302 Found\r\nLocation: " + target + "\r\nContent-Length: 0\r\n\r\n");
        }
    }

    public void brokenAnswersAreErrors() throws Exception {
        expect("error", "");
        expect("error", "\u0000\u0000\u0000\u0000");
        expect("error", OK + "Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\nzz\r\nllo");
        expect("error", OK + "Transfer-Encoding: chunked\r\n\r\n-5\r\nhello");
        expect("error", OK + "Transfer-Encoding: chunked\r\n\r\nffffffffff\r\nhello");
    }

    /** What they come to is up to the platform; it ends, and not by another exception. */
    public void strangeAnswersEnd() throws Exception {
        String[] answers = {
            "hello", "HTTP/1.1", "HTTP/1.1 \r\n\r\n", "HTTP/1.1 abc\r\n\r\n", "HTTP/9.9 99999999999 OK\r\n\r\n",
            "HTTP/1.1 -1 OK\r\n\r\n", OK, OK + "\r\n\u0000", OK + ": no name\r\n\r\n", OK + "no colon\r\n\r\n",
            OK + "Content-Length: -5\r\n\r\nhello", OK + "Content-Length: 99999999999999999999\r\n\r\nhello",
            OK + "Content-Length: 9\r\n\r\nhello",
            OK + "Content-Length: 1\r\nContent-Length: 5\r\n\r\nhello", OK + "Content-Length: x\r\n\r\nhello",
            OK + "Content-Encoding: gzip\r\n\r\nhello", OK + "ETag: \"a\"\r\nETag: \"b\"\r\n\r\n",
            "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello",
            "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: \r\n\r\n", "HTTP/1.1 407 Proxy\r\n\r\n",
            OK + "X: " + new String(new char[100_000]).replace('\0', 'x') + "\r\n\r\nhello",
        };
        for (String answer : answers) {
            fetch(answer, RawServer.Then.CLOSES);
        }
    }

    public void anEndlessBodyIsLeft() throws Exception {
        Check.equal("200 1001", fetch(OK + "\r\n", RawServer.Then.SENDS_ON));
        Check.equal("200 1001", fetch(OK + "Content-Length: 9000000000\r\n\r\n", RawServer.Then.SENDS_ON));
        Check.equal("404 1001", fetch("HTTP/1.1 404 No\r\n\r\n", RawServer.Then.SENDS_ON));
    }

    public void silenceIsAnError() throws Exception {
        Check.equal("error", fetch("", RawServer.Then.WAITS));
        Check.equal("error", fetch(OK, RawServer.Then.WAITS));
        Check.equal("error", fetch(OK + "Content-Length: 9\r\n\r\nhello", RawServer.Then.WAITS));
    }

    public void addressesThatAreNoneAreErrors() throws Exception {
        String[] urls = {
            "", "http://", "http://[::1", "http://127.0.0.1:99999/", "http:///x", "https://\u0000/", "file:///etc/hosts",
            "jar:file:///etc/hosts!/x", "ftp://127.0.0.1:1/x", "mailto:a@b", "http://127.0.0.1:1/", "http://%/",
        };
        for (String url : urls) {
            try (Response response = network.send(Request.forBytes(url))) {
                throw new AssertionError(url + ": " + response.status);
            } catch (IOException refused) {
                Check.that(refused.getMessage() != null, url + " has a reason");
            }
        }
    }

    public void aRejectedReportEnds() throws Exception {
        for (String status : new String[] {"200 OK", "307 Temporary Redirect", "413 Too Large", "500 Error"}) {
            String answer = "HTTP/1.1 " + status + "\r\nLocation: /y\r\nContent-Length: 0\r\n\r\n";
            try (RawServer server = new RawServer(answer, RawServer.Then.CLOSES);
                    Response response = network.send(Request.post(server.url(), "{}"))) {
                Check.equal(status.substring(0, 3), String.valueOf(response.status));
            }
        }
    }
}
