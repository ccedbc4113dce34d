/** A server on this machine that sends the same bytes to whoever connects, whatever it is asked. */
package dev.launchway.core.net;

import dev.launchway.core.text.Utf8;
import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Arrays;

final class RawServer implements Closeable {
    private static final int LONGEST_REQUEST = 64 << 10;

    /** What happens after the bytes were sent. */
    enum Then {
        CLOSES,
        /** It sends further bytes until nobody reads them. */
        SENDS_ON,
        /** It neither sends nor closes. */
        WAITS
    }

    private final ServerSocket socket;
    private final byte[] answer;
    private final Then then;

    RawServer(String answer, Then then) throws IOException {
        this.answer = Utf8.encode(answer);
        this.then = then;
        socket = new ServerSocket(0, 10, InetAddress.getByName("127.0.0.1"));
        Thread thread = new Thread(new Runnable() {
            @Override
            public void run() {
                serve();
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    String url() {
        return "http://127.0.0.1:" + socket.getLocalPort() + "/x";
    }

    private void serve() {
        while (!socket.isClosed()) {
            try (Socket connection = socket.accept()) {
                connection.getInputStream().read(new byte[LONGEST_REQUEST]);
                send(connection);
            } catch (IOException gone) {
                // The client has seen enough, or the test is over.
                continue;
            }
        }
    }

    private void send(Socket connection) throws IOException {
        OutputStream target = connection.getOutputStream();
        target.write(answer);
        target.flush();
        byte[] more = new byte[LONGEST_REQUEST];
        Arrays.fill(more, (byte) 'x');
        while (then == Then.SENDS_ON) {
            target.write(more);
        }
        while (then == Then.WAITS && connection.getInputStream().read() >= 0) {
            continue;
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
