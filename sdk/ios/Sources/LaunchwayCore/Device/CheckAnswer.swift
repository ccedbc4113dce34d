// The server's answer to a check.

struct CheckAnswer {
    enum Content {
        case update(Offer)
        /// There is an update that needs a new store binary, for this reason.
        case storeUpdateRequired(reason: String)
        /// There is no update, in the server's words.
        case nothing(message: String)
    }

    let content: Content
    /// What reports are authenticated with; nil if the server gave no token.
    let token: ReportToken?
    /// Nil if the server does not say.
    let announced: AnnouncedVersions?

    /// The update; nil where there is none to install.
    var offer: Offer? {
        if case .update(let offer) = content { return offer }
        return nil
    }
}

/// The versions of root and snapshot that the server has. They only decide whether metadata is fetched early.
struct AnnouncedVersions: Equatable {
    let root: Int
    let snapshot: Int
}
