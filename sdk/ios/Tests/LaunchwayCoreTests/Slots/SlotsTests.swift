// Installed packages: whole and sound, or nothing, wherever the process dies.
import Foundation
import XCTest

@testable import LaunchwayCore

final class SlotsTests: XCTestCase {
    private let temporary = TemporaryFolder()
    private let files: [(path: String, content: String)] = [
        ("index.html", "<html>"), ("a/b/c.js", "let c"), ("a/d.js", "let d"), ("empty/", ""),
    ]

    private func slot(_ files: [(path: String, content: String)]) -> Sha256 {
        Sha256.of(SmallZip.of(files))
    }

    private func putPackage(_ folder: Folder, _ files: [(path: String, content: String)]) throws {
        try WholeFiles.replace(folder, "package", SmallZip.of(files))
    }

    private func slots(_ storage: Storage) -> Slots {
        Slots(storage, entryFile: "index.html")
    }

    func testAPackageIsInstalledAndSound() throws {
        let folder = try temporary.open()
        try putPackage(folder, files)
        let slot = slot(files)
        let manifest = try slots(folder).install("package", slot: slot, expected: nil)
        XCTAssertEqual(try slots(folder).soundness(slot, first: true), .sound)
        let content = Slots.content(slot)
        XCTAssertEqual(try WholeFiles.read(folder, content + "/a/b/c.js", max: 10), Utf8.encode("let c"))
        XCTAssertNil(try folder.entry(content + "/empty"), "an empty folder is not installed")
        let mark = try WholeFiles.read(folder, "slots/\(slot)/.complete", max: 64)
        XCTAssertEqual(mark, Utf8.encode(manifest.hex))
        let list = try XCTUnwrap(WholeFiles.read(folder, "slots/\(slot)/files.json", max: 10_000))
        XCTAssertEqual(try FileList.parse(list).manifest(), manifest)
        XCTAssertEqual(try slots(folder).install("package", slot: slot, expected: manifest), manifest, "again")
        XCTAssertEqual(try slots(folder).soundness(slot, first: true), .sound)
    }

    func testADeathLeavesASlotThatIsNothingOrWhole() throws {
        let folder = try temporary.open()
        try putPackage(folder, files)
        let slot = slot(files)
        var deaths = 0
        while true {
            let mortal = MortalStorage(folder, changes: deaths)
            let installed = try? slots(mortal).install("package", slot: slot, expected: nil)
            let found = try slots(folder).soundness(slot, first: true)
            XCTAssert(found == .incomplete || found == .sound, "death \(deaths): \(found)")
            if !mortal.isDead {
                XCTAssertNotNil(installed)
                XCTAssertEqual(found, .sound)
                break
            }
            deaths += 1
        }
        XCTAssertGreaterThan(deaths, 20)
    }

    func testADeathWhileRemovingLeavesNothingThatStarts() throws {
        let folder = try temporary.open()
        try putPackage(folder, files)
        let slot = slot(files)
        for deaths in 0..<40 {
            _ = try slots(folder).install("package", slot: slot, expected: nil)
            let mortal = MortalStorage(folder, changes: deaths)
            try? slots(mortal).remove("slots/\(slot)")
            let found = try slots(folder).soundness(slot, first: true)
            XCTAssertEqual(found, deaths == 0 ? .sound : .incomplete, "death \(deaths)")
            if !mortal.isDead {
                XCTAssertNil(try folder.entry("slots/\(slot)"))
                return
            }
        }
        XCTFail("the slot was never removed")
    }

    func testChangedFilesAreFoundAtTheFirstStart() throws {
        let folder = try temporary.open()
        try putPackage(folder, files)
        let slot = slot(files)
        let content = Slots.content(slot)
        let changes: [(String, () throws -> Void)] = [
            ("other content", { try WholeFiles.replace(folder, content + "/a/d.js", Utf8.encode("let e")) }),
            ("a missing file", { try folder.removeFile(content + "/a/d.js") }),
            ("another file", { try WholeFiles.replace(folder, content + "/new.js", []) }),
            ("another list", { try WholeFiles.replace(folder, "slots/\(slot)/files.json", Utf8.encode("{}")) }),
            ("no list", { try folder.removeFile("slots/\(slot)/files.json") }),
            (
                "a folder as list",
                {
                    try folder.removeFile("slots/\(slot)/files.json")
                    try folder.makeFolder("slots/\(slot)/files.json")
                }
            ),
            (
                "a link",
                {
                    let link = folder.file(content + "/link.js")
                    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "index.html")
                }
            ),
        ]
        for (name, change) in changes {
            _ = try slots(folder).install("package", slot: slot, expected: nil)
            try change()
            XCTAssertEqual(try slots(folder).soundness(slot, first: true), .damaged, name)
            XCTAssertEqual(try slots(folder).soundness(slot, first: false), .sound, name)
        }
        try folder.removeFile(content + "/index.html")
        XCTAssertEqual(try slots(folder).soundness(slot, first: false), .noEntryFile)
        for mark in ["", "x", String(repeating: "0", count: 65)] {
            try WholeFiles.replace(folder, "slots/\(slot)/.complete", Utf8.encode(mark))
            XCTAssertEqual(try slots(folder).soundness(slot, first: false), .incomplete, mark)
        }
    }

    private func assertRefused(_ expected: InstallError, file: StaticString = #filePath, line: UInt = #line,
        _ body: () throws -> Void
    ) {
        XCTAssertThrowsError(try body(), file: file, line: line) {
            XCTAssertEqual($0 as? InstallError, expected, file: file, line: line)
        }
    }

    func testAFaultyPackageChangesNothing() throws {
        let folder = try temporary.open()
        let native: [(path: String, content: String)] = [("index.html", ""), ("a.dylib", "")]
        try putPackage(folder, native)
        assertRefused(.faulty("the entry `a.dylib` is native code, which updates must not contain")) {
            _ = try slots(folder).install("package", slot: slot(native), expected: nil)
        }
        try WholeFiles.replace(folder, "package", Utf8.encode("no package"))
        assertRefused(.faulty("the package is not a ZIP archive, or its end is missing")) {
            _ = try slots(folder).install("package", slot: slot(native), expected: nil)
        }
        XCTAssertNil(try folder.entry("slots"))
    }

    func testOtherFilesThanPromisedAreNoInstallation() throws {
        let folder = try temporary.open()
        try putPackage(folder, files)
        assertRefused(.wrongFiles) {
            _ = try slots(folder).install("package", slot: slot(files), expected: Sha256.of([]))
        }
        XCTAssertEqual(try slots(folder).soundness(slot(files), first: false), .incomplete)
    }

    func testFreeSpaceIsCheckedBeforeAnythingIsWritten() throws {
        let folder = try temporary.open()
        try putPackage(folder, files)
        let needed = (8 << 20) + 4 * 4096 + 16
        let full = MortalStorage(folder)
        full.free = needed - 1
        assertRefused(.noSpace(needed: needed, free: needed - 1)) {
            _ = try slots(full).install("package", slot: slot(files), expected: nil)
        }
        XCTAssertNil(try folder.entry("slots"))
        full.free = needed
        XCTAssertNoThrow(try slots(full).install("package", slot: slot(files), expected: nil))
    }

    func testAStorageThatFailsIsNotTheFaultOfAPackage() throws {
        let folder = try temporary.open()
        try putPackage(folder, files)
        for changes in 0..<5 {
            let mortal = MortalStorage(folder, changes: changes)
            XCTAssertThrowsError(try slots(mortal).install("package", slot: slot(files), expected: nil)) {
                XCTAssertEqual($0 as? StorageError, MortalStorage.death)
            }
            XCTAssertThrowsError(try slots(mortal).soundness(slot(files), first: true))
        }
    }
}
