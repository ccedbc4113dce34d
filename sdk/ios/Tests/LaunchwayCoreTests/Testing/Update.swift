// An update on the server, and what is in its package.

@testable import LaunchwayCore

struct Update {
    let id: String
    var version = "1.0.0"
    let build: Int
    let bytes: [UInt8]

    var sha256: Sha256 { Sha256.of(bytes) }
    var content: Content { .slot(sha256) }

    /// The good update with this number, for the app 1.0.0 with build 1.
    static func number(_ number: Int) -> Update {
        Update(id: "update_\(number)", build: 100 + number, bytes: SmallZip.of(files(number)))
    }

    /// The files of a version, one of them large enough for several reads.
    static func files(_ version: Int) -> [(path: String, content: String)] {
        let line = "console.log('version \(version)');\n"
        return [
            ("index.html", "<script src=js/app.js></script> \(version)"),
            ("js/app.js", String(repeating: line, count: 300)),
            ("img/a/logo.svg", "<svg/>"),
        ]
    }

    /// The members of the answer to a check that offers the update.
    var answer: TextMap<JsonValue> {
        [
            "updateAvailable": .bool(true),
            "requiresStoreUpdate": .bool(false),
            "compatibilityReason": .null,
            "platform": .text("ios"),
            "id": .text(id),
            "version": .text(version),
            "buildNumber": .text(String(build)),
            "url": .text("https://storage/package?signature=1"),
            "sha256": .text(sha256.hex),
            "size": .integer(bytes.count),
            "mandatory": .bool(false),
            "releaseNotes": .text(""),
            "reportToken": .text("token"),
        ]
    }
}
