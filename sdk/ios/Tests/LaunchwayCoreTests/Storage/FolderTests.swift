// The storage on a real folder: files, folders, links, the lock, and errors of the system.
import Foundation
import XCTest

@testable import LaunchwayCore

final class FolderTests: XCTestCase {
    private let temporary = TemporaryFolder()

    private func write(_ folder: Folder, _ path: String, _ text: String) throws {
        let target = try folder.create(path)
        try target.write(Utf8.encode(text))
        try target.sync()
        try target.close()
    }

    private func read(_ folder: Folder, _ path: String) throws -> String? {
        try WholeFiles.read(folder, path, max: 100).flatMap(Utf8.decode)
    }

    func testFilesAreCreatedReplacedAndExtended() throws {
        let folder = try temporary.open()
        try write(folder, "a", "longer")
        try write(folder, "a", "one")
        let target = try folder.append("a")
        try target.write(Utf8.encode(", two"))
        try target.close()
        XCTAssertEqual(try read(folder, "a"), "one, two")
        XCTAssertEqual(try folder.entry("a"), .file(8))
        try folder.rename("a", to: "b")
        XCTAssertEqual(try folder.list(""), ["b"])
        try folder.removeFile("b")
        try folder.removeFile("b")
        XCTAssertNil(try folder.entry("b"))
        XCTAssertThrowsError(try folder.open("b"))
    }

    func testAFileIsReadFromAnyPlace() throws {
        let folder = try temporary.open()
        try write(folder, "a", "0123456789")
        let source = try folder.open("a")
        var buffer = [UInt8](repeating: 0, count: 4)
        XCTAssertEqual(try source.length(), 10)
        XCTAssertEqual(try source.read(from: 7, into: &buffer, count: 100), 3)
        XCTAssertEqual(buffer, Utf8.encode("789\0"))
        XCTAssertEqual(try source.read(from: 2, into: &buffer, count: 2), 2)
        XCTAssertEqual(buffer[..<2], Utf8.encode("23")[...])
        XCTAssertEqual(try source.read(from: 10, into: &buffer, count: 4), 0)
    }

    func testFoldersAreMadeWithTheirParents() throws {
        let folder = try temporary.open()
        try folder.makeFolder("a/b/c")
        try folder.makeFolder("a/b/c")
        try folder.syncFolder("a/b/c")
        try folder.syncFolder("")
        XCTAssertEqual(try folder.entry("a/b"), .folder)
        XCTAssertThrowsError(try folder.removeFolder("a"), "it is not empty")
        try folder.removeFolder("a/b/c")
        try folder.removeFolder("a/b/c")
        XCTAssertEqual(try folder.list("a/b"), [])
        XCTAssertEqual(try folder.list("missing"), [])
        try write(folder, "file", "")
        XCTAssertThrowsError(try folder.makeFolder("file"))
        XCTAssertThrowsError(try folder.makeFolder("file/a"))
        XCTAssertThrowsError(try folder.list("file"))
        XCTAssertNil(try folder.entry("file/a"))
    }

    func testLinksAreNotFollowed() throws {
        let folder = try temporary.open()
        try write(folder, "a", "text")
        try folder.makeFolder("real")
        try write(folder, "real/kept", "text")
        let files = FileManager.default
        try files.createSymbolicLink(atPath: folder.file("link"), withDestinationPath: folder.file("a"))
        try files.createSymbolicLink(atPath: folder.file("folder"), withDestinationPath: folder.file("real"))
        XCTAssertEqual(try folder.entry("link"), .other)
        XCTAssertEqual(try folder.entry("folder"), .other)
        XCTAssertThrowsError(try folder.open("link"))
        XCTAssertThrowsError(try folder.create("link"))
        XCTAssertThrowsError(try folder.append("link"))
        XCTAssertThrowsError(try folder.syncFolder("folder"))
        XCTAssertThrowsError(try folder.list("folder"))
        try WholeFiles.removeTree(folder, "folder")
        XCTAssertNil(try folder.entry("folder"))
        XCTAssertEqual(try read(folder, "real/kept"), "text")
        XCTAssertEqual(try read(folder, "a"), "text")
    }

    func testLinksThatLeadNowhereAreNotFollowedEither() throws {
        let folder = try temporary.open()
        let target = folder.file("missing")
        try FileManager.default.createSymbolicLink(atPath: folder.file("a.new"), withDestinationPath: target)
        XCTAssertThrowsError(try WholeFiles.replace(folder, "a", [1]))
        XCTAssertFalse(FileManager.default.fileExists(atPath: target))
        try folder.removeFile("a.new")
        XCTAssertNoThrow(try WholeFiles.replace(folder, "a", [1]))
    }

    func testOneHolderHasTheLock() throws {
        let folder = try temporary.open()
        let lock = try XCTUnwrap(folder.lock())
        XCTAssertNil(try temporary.open().lock())
        lock.release()
        let next = try temporary.open().lock()
        XCTAssertNotNil(next)
        XCTAssertNil(try folder.lock())
        withExtendedLifetime(next) {}
    }

    func testTheLockEndsWithItsLastReference() throws {
        let folder = try temporary.open()
        do {
            let lock = try folder.lock()
            XCTAssertNotNil(lock)
        }
        XCTAssertNotNil(try folder.lock())
    }

    func testNamesThatAreNoTextAreAnError() throws {
        let folder = try temporary.open()
        let file = open(folder.file("") + "/\u{1}", O_CREAT | O_WRONLY, 0o600)
        close(file)
        XCTAssertEqual(try folder.list(""), ["\u{1}"])
        let invalid: [CChar] = folder.file("").utf8CString.dropLast() + [0x2f, -1, 0]
        close(open(invalid, O_CREAT | O_WRONLY, 0o600))
        XCTAssertThrowsError(try folder.list("")) { XCTAssert($0 is StorageError) }
    }

    func testThereIsFreeSpaceAndAFullDiskIsKnown() throws {
        XCTAssertGreaterThan(try temporary.open().freeSpace(), 0)
        XCTAssert(StorageError.failed(action: "write", path: "a", code: ENOSPC).isFull)
        XCTAssertFalse(StorageError.failed(action: "write", path: "a", code: EIO).isFull)
        XCTAssertEqual(
            StorageError.failed(action: "write", path: "a", code: ENOSPC).message,
            "cannot write `a`: No space left on device")
    }
}
