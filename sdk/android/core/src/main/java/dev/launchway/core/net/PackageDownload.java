/** Downloads a package (`docs/reference/sdk.md#download`): one partial file for each SHA-256, resumed by range. */
package dev.launchway.core.net;

import dev.launchway.core.digest.Sha256;
import dev.launchway.core.storage.Storage;
import dev.launchway.core.storage.Target;
import java.io.EOFException;
import java.io.IOException;

public final class PackageDownload {
    /** Learns how many bytes of a package are there. */
    public interface Progress {
        void arrived(long bytes);
    }

    private static final int CHUNK = 64 << 10;
    /** What stays free for everything else on the phone. */
    private static final long SPARE_BYTES = 8 << 20;

    private final Storage storage;
    private final Network network;
    private final PartialFile file;
    private final Sha256 sha256;
    private final long size;

    /** The download of the package with this digest and number of bytes. */
    public PackageDownload(Storage storage, Network network, Sha256 sha256, long size) {
        this.storage = storage;
        this.network = network;
        this.sha256 = sha256;
        this.size = size;
        this.file = new PartialFile(storage, sha256);
    }

    /**
     * Downloads from {@code url} what is missing and returns the path of the whole file, which has the digest.
     *
     * @throws DownloadException it stopped; what arrived is kept, unless it is wrong, and the next call continues there
     * @throws IOException the storage failed
     */
    public String run(String url, Progress progress) throws DownloadException, IOException {
        long here = file.size();
        if (here > size) {
            file.discard();
            here = 0;
        }
        if (here < size) {
            checkSpace(size - here);
            here = fetch(url, here, here > 0 ? file.etag() : null, progress);
        }
        if (here == size && file.digest().equals(sha256)) {
            return file.path;
        }
        file.discard();
        throw DownloadException.wrong("its bytes have a different digest");
    }

    private void checkSpace(long missing) throws DownloadException, IOException {
        long needed = missing + SPARE_BYTES;
        long free = storage.freeSpace();
        if (free < needed) {
            throw DownloadException.noSpace(needed, free);
        }
    }

    /** Asks for the bytes from {@code here} on and writes them. Returns how many there are now. */
    private long fetch(String url, long here, String etag, Progress progress) throws DownloadException, IOException {
        // Without a strong validator nobody knows that the rest belongs to the beginning.
        long from = etag == null ? 0 : here;
        Request request = Request.forBytes(url);
        if (etag != null) {
            request.headers.put("range", "bytes=" + from + "-");
            request.headers.put("if-range", etag);
        }
        try (Response response = send(request)) {
            checkEncoding(response);
            switch (response.status) {
                case 200:
                    return receive(response, 0, progress);
                case 206:
                    if (continues(response, from)) {
                        return receive(response, from, progress);
                    }
                    break;
                case 416:
                    break;
                case 400:
                case 401:
                case 403:
                case 404:
                case 410:
                    throw DownloadException.expired(response.status);
                default:
                    throw DownloadException.status(response.status);
            }
        }
        file.discard();
        throw DownloadException.wrong("its range is not the requested one");
    }

    private Response send(Request request) throws DownloadException {
        try {
            return network.send(request);
        } catch (IOException unreachable) {
            throw DownloadException.network(unreachable);
        }
    }

    private static void checkEncoding(Response response) throws DownloadException {
        String encoding = response.header("content-encoding");
        boolean hasBytes = response.status == 200 || response.status == 206;
        if (hasBytes && encoding != null && !encoding.equalsIgnoreCase("identity")) {
            throw DownloadException.wrong("it is encoded");
        }
    }

    /** Whether the body begins at the byte that was asked for, in a whole of the announced size. */
    private boolean continues(Response response, long from) {
        ContentRange range = ContentRange.parse(response.header("content-range"));
        return range != null && range.start == from && (range.whole < 0 || range.whole == size);
    }

    /** Writes the body behind what is there. More bytes than the package has are never written. */
    private long receive(Response response, long start, Progress progress) throws DownloadException, IOException {
        long here = start;
        byte[] buffer = new byte[CHUNK];
        try (Target target = start > 0 ? file.append() : file.begin(response.header("etag"))) {
            for (int count = read(response, buffer); count >= 0; count = read(response, buffer)) {
                if (count > size - here) {
                    throw tooLong();
                }
                target.write(buffer, 0, count);
                here += count;
                progress.arrived(here);
            }
            target.sync();
        }
        if (here < size) {
            throw DownloadException.network(new EOFException("the response ended early"));
        }
        return here;
    }

    private DownloadException tooLong() throws IOException {
        file.discard();
        return DownloadException.wrong("it has more bytes than announced");
    }

    private static int read(Response response, byte[] buffer) throws DownloadException {
        try {
            return response.body.read(buffer);
        } catch (IOException broken) {
            throw DownloadException.network(broken);
        }
    }
}
