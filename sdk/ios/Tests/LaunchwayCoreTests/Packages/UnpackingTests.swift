// Unpacking takes only what the list names, and hashes while it writes.
import XCTest

@testable import LaunchwayCore

final class UnpackingTests: XCTestCase {
    private typealias Files = [(path: String, content: String)]

    /// A disk without room.
    private final class FullDisk: UnpackingSink {
        func create(_ path: String) throws -> Target {
            throw StorageError.failed(action: "write", path: path, code: 28)
        }
    }

    private func open(_ files: Files) throws -> PackageArchive {
        try PackageArchive(MemorySource(SmallZip.of(files)))
    }

    private func list(_ files: Files) throws -> FileList {
        try FileList(
            files.map { file in
                let content = Utf8.encode(file.content)
                return ListedFile(path: file.path, size: content.count, sha256: Sha256.of(content))
            })
    }

    /// `fault` is a part of the message, or nil where the package passes.
    private func check(_ fault: String?, _ list: FileList?, _ files: Files) throws {
        var message: String?
        do {
            try Unpacking.check(open(files), list: list, entryFile: "index.html")
        } catch let refused as PackageError {
            message = refused.message
        }
        if let fault = fault {
            XCTAssert(message?.contains(fault) == true, "\(message ?? "taken") is not `\(fault)`")
        } else {
            XCTAssertNil(message)
        }
    }

    func testFilesAreWrittenAndListed() throws {
        let archive = try open([("index.html", "<html>"), ("a/b.js", "let b"), ("empty/", "")])
        let files = MemoryFiles()
        try Unpacking.check(archive, list: nil, entryFile: "index.html")
        let list = try Unpacking.unpack(archive, list: nil, sink: files)
        XCTAssertEqual(files.written.keys.sorted(), ["a/b.js", "index.html"])
        XCTAssertEqual(files.written["a/b.js"]?.bytes, Utf8.encode("let b"))
        XCTAssertEqual(list.find("index.html")?.sha256, Sha256.of(Utf8.encode("<html>")))
        XCTAssertEqual(list.files.count, 2)
        XCTAssert(files.written.values.allSatisfy { $0.isSynced && $0.isClosed })
        XCTAssertEqual(list.manifest(), Sha256.of(list.canonical()))
    }

    func testOnlyListedFilesAreWritten() throws {
        let list = try list([("index.html", "<html>"), ("a.js", "let a")])
        try check(nil, list, [("index.html", "<html>"), ("a.js", "let a")])
        let more: Files = [("index.html", "<html>"), ("a.js", "let a"), ("b.js", "")]
        try check("`b.js` is not in the file list", list, more)
        try check("`a.js` is in the file list, but not in the package", list, [("index.html", "<html>")])
        try check("`a.js` is not in the file list", list, [("index.html", "<html>"), ("a.js", "other size")])
    }

    func testAListNamesOneUnicodeFormOfAPath() throws {
        let list = try list([("index.html", ""), ("\u{e9}.js", "")])
        try check(nil, list, [("index.html", ""), ("\u{e9}.js", "")])
        try check("is not in the file list", list, [("index.html", ""), ("e\u{301}.js", "")])
    }

    func testAFileWithOtherContentIsRefused() throws {
        let files = MemoryFiles()
        let archive = try open([("index.html", "<html>"), ("a.js", "let b")])
        let list = try list([("index.html", "<html>"), ("a.js", "let a")])
        XCTAssertThrowsError(try Unpacking.unpack(archive, list: list, sink: files)) {
            XCTAssertEqual(($0 as? PackageError)?.message, "the entry `a.js` is not the listed file")
        }
    }

    func testNativeCodeIsRefused() throws {
        let paths = [
            "lib/libapp.so", "libc.so.6", "Classes.DEX", "a.jar", "x.dylib", "A.framework/A", "A.framework/", "a.SO/b",
        ]
        for path in paths {
            try check("is native code", nil, [("index.html", ""), (path, "")])
        }
        try check(nil, nil, [("index.html", ""), ("also.js", ""), ("so", ""), ("dex/jar.txt", "")])
    }

    func testThePackageHasTheEntryFile() throws {
        try check("does not contain `index.html`", nil, [("main.js", "")])
        try check("does not contain `index.html`", nil, [("index.html/", ""), ("main.js", "")])
    }

    func testAFullDiskIsNoFaultOfThePackage() throws {
        let archive = try open([("index.html", "<html>")])
        XCTAssertThrowsError(try Unpacking.unpack(archive, list: nil, sink: FullDisk())) {
            XCTAssertEqual(($0 as? StorageError)?.isFull, true)
        }
    }
}
