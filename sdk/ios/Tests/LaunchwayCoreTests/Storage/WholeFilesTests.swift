// Whole files: bounded reads, replacement that leaves the old or the new bytes, and removal.
import XCTest

@testable import LaunchwayCore

final class WholeFilesTests: XCTestCase {
    private let temporary = TemporaryFolder()

    func testReadsAreBounded() throws {
        let folder = try temporary.open()
        let bytes = [UInt8](repeating: 7, count: 200_000)
        try WholeFiles.replace(folder, "a", bytes)
        XCTAssertEqual(try WholeFiles.read(folder, "a", max: 200_000), bytes)
        XCTAssertNil(try WholeFiles.read(folder, "b", max: 10))
        XCTAssertThrowsError(try WholeFiles.read(folder, "a", max: 199_999)) {
            XCTAssertEqual($0 as? StorageError, .unsuitable(path: "a"))
        }
        try folder.makeFolder("folder")
        XCTAssertThrowsError(try WholeFiles.read(folder, "folder", max: 10))
        try WholeFiles.replace(folder, "empty", [])
        XCTAssertEqual(try WholeFiles.read(folder, "empty", max: 0), [])
    }

    func testADeathLeavesTheOldBytesOrTheNew() throws {
        let folder = try temporary.open()
        var deaths = 0
        while true {
            try WholeFiles.replace(folder, "a", [1, 2, 3])
            let mortal = MortalStorage(folder, changes: deaths)
            try? WholeFiles.replace(mortal, "a", [4, 5, 6, 7])
            let found = try WholeFiles.read(folder, "a", max: 10)
            if !mortal.isDead {
                XCTAssertEqual(found, [4, 5, 6, 7])
                break
            }
            XCTAssert(found == [1, 2, 3] || found == [4, 5, 6, 7], "death \(deaths)")
            deaths += 1
        }
        XCTAssertEqual(deaths, 6, "create, write, sync, close, rename and sync of the folder")
    }

    func testTreesAreRemovedHoweverDeep() throws {
        let folder = try temporary.open()
        let deep = "tree" + String(repeating: "/a", count: 300)
        try folder.makeFolder(deep)
        try WholeFiles.replace(folder, "tree/b", [1])
        try folder.makeFolder("tree/c/d")
        try WholeFiles.removeTree(folder, "tree")
        XCTAssertNil(try folder.entry("tree"))
        try WholeFiles.removeTree(folder, "tree")
        try WholeFiles.replace(folder, "file", [1])
        try WholeFiles.removeTree(folder, "file")
        XCTAssertEqual(try folder.list(""), [])
    }

    func testPathsAreSplitAtTheirLastSlash() {
        XCTAssertEqual(WholeFiles.parent("a/b/c"), "a/b")
        XCTAssertEqual(WholeFiles.parent("a"), "")
        XCTAssertTrue(WholeFiles.parent("a/\u{301}b").isExactly("a"), "before a combining mark, too")
        XCTAssertEqual(WholeFiles.join("", "a"), "a")
        XCTAssertEqual(WholeFiles.join("a", "b"), "a/b")
    }
}
