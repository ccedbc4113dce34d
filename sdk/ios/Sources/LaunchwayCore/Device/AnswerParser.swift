// Reads the server's answer to a check. Whatever is not of the right form is refused (`docs/reference/sdk.md#answers`).

struct AnswerParser {
    /// The most bytes of a package.
    private static let maxPackage = 512 << 20

    private let answer: JsonValue
    private let platform: Platform

    /// Reads an answer for an app that runs the update `runningId`.
    static func parse(_ answer: JsonValue, platform: Platform, runningId: String) throws -> CheckAnswer {
        let parser = AnswerParser(answer: answer, platform: platform)
        if try !parser.flag("updateAvailable") {
            let content = CheckAnswer.Content.nothing(message: parser.textOrEmpty("message"))
            return parser.answer(content, of: runningId)
        }
        if try parser.flag("requiresStoreUpdate") {
            let reason = parser.textOrEmpty("compatibilityReason")
            return parser.answer(.storeUpdateRequired(reason: reason), of: answer["id"]?.asText)
        }
        let offer = try parser.offer()
        return parser.answer(.update(offer), of: offer.id)
    }

    private func answer(_ content: CheckAnswer.Content, of updateId: String?) -> CheckAnswer {
        var token: ReportToken?
        if let text = answer["reportToken"]?.asText, let updateId = updateId {
            token = ReportToken(updateId: updateId, token: text)
        }
        return CheckAnswer(content: content, token: token, announced: announced())
    }

    private func announced() -> AnnouncedVersions? {
        let trust = answer["trust"]
        guard let root = Self.count(trust?["root"]), let snapshot = Self.count(trust?["snapshot"]) else {
            return nil
        }
        return AnnouncedVersions(root: root, snapshot: snapshot)
    }

    private func offer() throws -> Offer {
        guard try text("platform") == platform.rawValue else {
            throw CheckError.malformed("platform differs")
        }
        guard let size = Self.count(answer["size"]), size >= 1, size <= Self.maxPackage else {
            throw CheckError.malformed("size")
        }
        let version = try text("version")
        guard Version.parse(version) != nil else {
            throw CheckError.malformed("version is not a version")
        }
        let buildNumber = try text("buildNumber")
        guard BuildNumber.parse(buildNumber) != nil else {
            throw CheckError.malformed("buildNumber is not a number")
        }
        let url = try text("url")
        guard url.utf8.starts(with: "https://".utf8) || url.utf8.starts(with: "http://".utf8) else {
            throw CheckError.malformed("url is not an address")
        }
        let hasManifest = !(answer["manifest"]?.isNull ?? true)
        return Offer(
            id: try text("id"),
            version: version,
            buildNumber: buildNumber,
            url: url,
            sha256: try digest("sha256"),
            size: size,
            manifest: hasManifest ? try digest("manifest") : nil,
            mandatory: answer["mandatory"]?.asBool ?? false,
            releaseNotes: textOrEmpty("releaseNotes"))
    }

    private func flag(_ name: String) throws -> Bool {
        guard let flag = answer[name]?.asBool else {
            throw CheckError.malformed("\(name) is missing")
        }
        return flag
    }

    private func digest(_ name: String) throws -> Sha256 {
        guard let digest = Sha256(try text(name)) else {
            throw CheckError.malformed("\(name) is not a digest")
        }
        return digest
    }

    private func text(_ name: String) throws -> String {
        guard let text = answer[name]?.asText else {
            throw CheckError.malformed("\(name) is missing")
        }
        return text
    }

    private func textOrEmpty(_ name: String) -> String {
        answer[name]?.asText ?? ""
    }

    private static func count(_ value: JsonValue?) -> Int? {
        value?.asInteger.flatMap { $0 < 0 ? nil : $0 }
    }
}
