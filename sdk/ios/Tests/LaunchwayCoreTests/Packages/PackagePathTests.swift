// Paths: which are allowed, and which meet on some device.
import XCTest

@testable import LaunchwayCore

final class PackagePathTests: XCTestCase {
    func testPlainPathsAreAllowed() throws {
        for path in ["index.html", "a/b/c.js", "a/", "..a/.b/c..", "ab:c", "\u{fc}/\u{1f600}.png"] {
            XCTAssertTrue(try PackagePath.check(Utf8.encode(path)).isExactly(path), path)
        }
    }

    func testPathsThatClimbOrConfuseAreRefused() {
        let paths = [
            "", "/", "/etc/passwd", "..", "../a", "a/../../b", "a/..", "a/../", "a//b", "./a", "a//", "..\\a", "C:/a", "c:a",
            "a\0b", "a\nb", "a\r\nb", "a\u{85}b", "a/\u{301}/..", String(repeating: "a", count: 256),
        ]
        for path in paths {
            XCTAssertThrowsError(try PackagePath.check(Utf8.encode(path)), path) { XCTAssert($0 is PackageError) }
        }
        XCTAssertThrowsError(try PackagePath.check([0x61, 0xff]), "not UTF-8")
        XCTAssertThrowsError(try PackagePath.checkFile(Utf8.encode("a/")), "a folder")
    }

    /// To Swift, a slash and a combining mark are one character, and a carriage return and a line feed are.
    func testASlashSeparatesBeforeACombiningMark() throws {
        XCTAssertEqual(PackagePath.parts("a/\u{301}b").count, 2)
        XCTAssertThrowsError(try PackagePath.check(Utf8.encode("../\u{301}b")))
        XCTAssertThrowsError(try PackagePath.checkCollisions(["a", "a/\u{301}b"]))
        XCTAssertThrowsError(try PackagePath.check(Utf8.encode("/\u{301}b")))
    }

    func testPlacesIgnoreCaseAndUnicodeForm() {
        let pairs = [
            ("A/b", "a/B"), ("\u{e9}", "e\u{301}"), ("\u{c9}", "e\u{301}"), ("\u{17f}", "S"), ("STRASSE", "stra\u{df}e"),
            ("\u{3a3}\u{3a3}", "\u{3c3}\u{3c2}"),
        ]
        for (one, other) in pairs {
            XCTAssertEqual(PackagePath.place(one), PackagePath.place(other), one)
        }
        XCTAssertNotEqual(PackagePath.place("e"), PackagePath.place("\u{e9}"), "accents count")
    }

    func testAPathIsUsedOnceAndAsOneKind() {
        XCTAssertThrowsError(try PackagePath.checkCollisions(["a", "b", "a"]), "twice")
        XCTAssertThrowsError(try PackagePath.checkCollisions(["a", "a-b", "a/b"]), "a file used as a folder")
        XCTAssertThrowsError(try PackagePath.checkCollisions(["a/", "a"]), "a file and a folder")
        XCTAssertThrowsError(try PackagePath.checkCollisions(["I/x", "i/X"]), "letter case")
        XCTAssertNoThrow(try PackagePath.checkCollisions(["a/", "a/b", "ab"]), "a folder and its file")
    }
}
