// A download that is retried after failures: how long to wait, how often, and when to ask for another address.

struct RetriedDownload {
    /// How often a download is tried without a byte of progress.
    private static let maxTries = 4
    /// How often a download with wrong bytes is tried.
    private static let maxWrongTries = 2
    /// How often an expired address is replaced in one round.
    private static let maxAddresses = 3

    private let setup: Setup
    private let open: OpenState
    private let finder: OfferFinder
    private let offer: Offer
    private var url: String
    private var tries = 0
    private var addresses = 1

    /// Downloads the package of an offer and returns the path of its file.
    static func run(
        _ setup: Setup, _ open: OpenState, _ finder: OfferFinder, _ offer: Offer, progress: PackageDownload.Progress
    ) throws -> String {
        var download = RetriedDownload(setup: setup, open: open, finder: finder, offer: offer, url: offer.url)
        return try download.run(progress)
    }

    private mutating func run(_ progress: PackageDownload.Progress) throws -> String {
        let download = PackageDownload(setup.ports.storage, setup.ports.network, offer.sha256, size: offer.size)
        // The most bytes that were there, and whether the last try went beyond.
        var most = 0
        while true {
            var advanced = false
            do {
                return try download.run(from: url) { bytes in
                    advanced = advanced || bytes > most
                    most = max(most, bytes)
                    progress(bytes)
                }
            } catch let failure as DownloadError {
                tries = advanced ? 1 : tries + 1
                try prepareRetry(failure)
            }
        }
    }

    /// Returns when the next try may begin; throws if there is none.
    private mutating func prepareRetry(_ failure: DownloadError) throws {
        switch failure {
        case .expired where addresses < Self.maxAddresses:
            addresses += 1
            try replaceAddress(failure)
        case .network where tries < Self.maxTries:
            pause()
        case .status(let status) where (status == 429 || status >= 500) && tries < Self.maxTries:
            pause()
        case .wrong where tries < Self.maxWrongTries:
            pause()
        case .expired, .network, .status:
            throw failure
        case .wrong, .noSpace:
            setup.tryToReportFailure(open, offer, failure.message)
            throw failure
        }
    }

    private mutating func replaceAddress(_ expired: DownloadError) throws {
        guard let fresh = try finder.ask(.used).offer, fresh.sha256 == offer.sha256 else {
            // There is something else to install by now; the next round does.
            throw expired
        }
        url = fresh.url
    }

    /// 1, 4 and 16 seconds, and up to half of that again, so that phones do not come back at once together.
    private func pause() {
        let pause = 1000 << min(2 * (tries - 1), 8)
        let random = setup.ports.random(2)
        let share = Int(random[0]) | Int(random[1]) << 8
        setup.ports.clock.pause(pause + pause * share / (2 << 16))
    }
}
