// Packages of more than one piece: files that are longer than what is read at once, and the limits of a package.
import XCTest

@testable import LaunchwayCore

final class PackageArchiveTests: XCTestCase {
    private let temporary = TemporaryFolder()

    /// Some of them compress well, some do not, and none ends where a piece ends.
    private func longFiles() -> [(path: String, bytes: [UInt8])] {
        var random = SeededRandom(seed: 3)
        let noise = (0..<200_001).map { _ in UInt8.random(in: 0...255, using: &random) }
        let zeros = [UInt8](repeating: 0, count: 3_000_003)
        let exact = [UInt8](repeating: 7, count: 1 << 17)
        return [("noise", noise), ("zeros", zeros), ("exact", exact), ("empty", []), ("both", noise + zeros)]
    }

    func testLongFilesAreUnpackedPieceByPiece() throws {
        let folder = try temporary.open()
        let files = longFiles()
        for isDeflated in [false, true] {
            try WholeFiles.replace(folder, "package", SmallZip.of(files, isDeflated: isDeflated))
            let archive = try PackageArchive(folder.open("package"))
            let unpacked = MemoryFiles()
            let list = try Unpacking.unpack(archive, list: nil, sink: unpacked)
            for file in files {
                XCTAssert(unpacked.written[file.path]?.bytes == file.bytes, file.path)
                XCTAssertEqual(list.find(file.path)?.sha256, Sha256.of(file.bytes), file.path)
            }
        }
    }

    func testAFileThatShrinksWhileItIsReadIsNoFaultOfThePackage() throws {
        let folder = try temporary.open()
        let bytes = SmallZip.of(longFiles(), isDeflated: false)
        try WholeFiles.replace(folder, "package", bytes)
        let archive = try PackageArchive(folder.open("package"))
        XCTAssertEqual(truncate(folder.file("package"), 300_000), 0)
        XCTAssertThrowsError(try FileList.of(archive)) { XCTAssert($0 is StorageError, "\($0)") }
    }

    func testTooManyEntriesAreRefusedBeforeTheyAreRead() throws {
        var bytes = SmallZip.of([("index.html", "")])
        let end = bytes.count - 22
        for count in [end + 8, end + 10] {
            bytes.replaceSubrange(count..<count + 2, with: [0x21, 0x4e])
        }
        XCTAssertThrowsError(try PackageArchive(MemorySource(bytes))) {
            XCTAssertEqual(($0 as? PackageError)?.message, "the package has more than 20000 entries")
        }
    }

    func testMessagesAreShortAndPlain() {
        let message = PackageError.entry("\u{1b}[2J" + String(repeating: "é", count: 300), "is bad").message
        XCTAssertEqual(message.utf8.first { $0 < 0x20 }, nil)
        XCTAssertLessThan(message.utf8.count, 200)
        XCTAssert(message.hasPrefix("the entry `\\u{1b}[2J\\u{e9}"), message)
    }
}
