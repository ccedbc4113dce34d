// Downloads a package (`docs/reference/sdk.md#download`): one partial file for each SHA-256, resumed by range.

struct PackageDownload {
    /// Learns how many bytes of a package are there.
    typealias Progress = (_ bytes: Int) -> Void

    private static let chunk = 64 << 10
    /// What stays free for everything else on the phone.
    private static let spareBytes = 8 << 20

    private let storage: Storage
    private let network: Network
    private let file: PartialFile
    private let sha256: Sha256
    private let size: Int

    /// The download of the package with this digest and number of bytes.
    init(_ storage: Storage, _ network: Network, _ sha256: Sha256, size: Int) {
        self.storage = storage
        self.network = network
        self.sha256 = sha256
        self.size = size
        file = PartialFile(storage, sha256)
    }

    /// Downloads from `url` what is missing and returns the path of the whole file, which has the digest. Throws
    /// `DownloadError` if it stopped: what arrived is kept, unless it is wrong, and the next call continues there.
    func run(from url: String, progress: Progress) throws -> String {
        var here = try file.size()
        if here > size {
            try file.discard()
            here = 0
        }
        if here < size {
            try checkSpace(missing: size - here)
            here = try fetch(url, here, etag: here > 0 ? try file.etag() : nil, progress)
        }
        if here == size, try file.digest() == sha256 {
            return file.path
        }
        try file.discard()
        throw DownloadError.wrong("its bytes have a different digest")
    }

    private func checkSpace(missing: Int) throws {
        let needed = missing + Self.spareBytes
        let free = try storage.freeSpace()
        if free < needed {
            throw DownloadError.noSpace(needed: needed, free: free)
        }
    }

    /// Asks for the bytes from `here` on and writes them. Returns how many there are now.
    private func fetch(_ url: String, _ here: Int, etag: String?, _ progress: Progress) throws -> Int {
        var request = Request.forBytes(url)
        // Without a strong validator nobody knows that the rest belongs to the beginning.
        var from = 0
        if let etag = etag {
            from = here
            request = request.adding("range", "bytes=\(from)-").adding("if-range", etag)
        }
        let response = try send(request)
        defer { response.close() }
        try checkEncoding(of: response)
        switch response.status {
        case 200:
            return try receive(response, from: 0, progress)
        case 206 where continues(response, from: from):
            return try receive(response, from: from, progress)
        case 206, 416:
            try file.discard()
            throw DownloadError.wrong("its range is not the requested one")
        case 400, 401, 403, 404, 410:
            throw DownloadError.expired(status: response.status)
        default:
            throw DownloadError.status(response.status)
        }
    }

    private func send(_ request: Request) throws -> Response {
        do {
            return try network.send(request)
        } catch {
            throw DownloadError.network(error)
        }
    }

    private func checkEncoding(of response: Response) throws {
        let hasBytes = response.status == 200 || response.status == 206
        if hasBytes, let encoding = response.header("content-encoding"), encoding.lowercased() != "identity" {
            throw DownloadError.wrong("it is encoded")
        }
    }

    /// Whether the body begins at the byte that was asked for, in a whole of the announced size.
    private func continues(_ response: Response, from start: Int) -> Bool {
        guard let range = ContentRange.parse(response.header("content-range")) else {
            return false
        }
        return range.start == start && (range.whole == nil || range.whole == size)
    }

    /// Writes the body behind what is there. More bytes than the package has are never written.
    private func receive(_ response: Response, from start: Int, _ progress: Progress) throws -> Int {
        let target = try start > 0 ? file.append() : file.begin(etag: response.header("etag"))
        var here = start
        do {
            while let bytes = try read(response) {
                if bytes.count > size - here {
                    throw DownloadError.wrong("it has more bytes than announced")
                }
                try target.write(bytes)
                here += bytes.count
                progress(here)
            }
            try target.sync()
            try target.close()
        } catch {
            // The first error matters more than those of closing and removing.
            try? target.close()
            if case DownloadError.wrong = error {
                try file.discard()
            }
            throw error
        }
        if here < size {
            throw DownloadError.network(NetworkError("the response ended early"))
        }
        return here
    }

    /// The next bytes of the body; nil at its end.
    private func read(_ response: Response) throws -> [UInt8]? {
        do {
            let bytes = try response.body.read(max: Self.chunk)
            return bytes.isEmpty ? nil : bytes
        } catch {
            throw DownloadError.network(error)
        }
    }
}
