// Packages and file lists in `sdk/vectors` are taken and refused as the vectors say.
import XCTest

@testable import LaunchwayCore

final class PackageVectorsTests: XCTestCase {
    private func cases(_ file: String, _ kind: String, atLeast count: Int) throws -> [JsonValue] {
        let cases = try XCTUnwrap(Vectors.read(file)[kind]?.asArray)
        XCTAssertGreaterThanOrEqual(cases.count, count, "the vectors are complete")
        return cases
    }

    private func text(_ vector: JsonValue, _ name: String) throws -> String {
        try XCTUnwrap(vector[name]?.asText)
    }

    private func list(ofPackage bytes: [UInt8]) throws -> FileList {
        try FileList.of(PackageArchive(MemorySource(bytes)))
    }

    func testGoodPackagesHaveTheirManifest() throws {
        for vector in try cases("hostile-zips/zips.json", "good", atLeast: 12) {
            let name = try text(vector, "name")
            let list = try list(ofPackage: XCTUnwrap(Hex.decode(text(vector, "zip"))))
            XCTAssertEqual(list.manifest().hex, try text(vector, "manifest"), name)
        }
    }

    func testHostilePackagesAreRefused() throws {
        for vector in try cases("hostile-zips/zips.json", "refused", atLeast: 75) {
            let name = try text(vector, "name")
            let bytes = try XCTUnwrap(Hex.decode(text(vector, "zip")))
            XCTAssertThrowsError(try list(ofPackage: bytes), name) {
                XCTAssert($0 is PackageError, "\($0)")
            }
        }
    }

    func testChangedPackagesAreReadOrRefused() throws {
        var random = SeededRandom(seed: 7)
        for vector in try cases("hostile-zips/zips.json", "good", atLeast: 12) {
            let whole = try XCTUnwrap(Hex.decode(text(vector, "zip")))
            for _ in 0..<300 {
                var bytes = whole
                for _ in 0...Int.random(in: 0...2, using: &random) {
                    bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
                }
                do {
                    _ = try list(ofPackage: bytes)
                } catch let refused as PackageError {
                    XCTAssertLessThan(refused.message.utf8.count, 300, "messages are short")
                }
            }
        }
    }

    func testTruncatedPackagesAreRefused() throws {
        for vector in try cases("hostile-zips/zips.json", "good", atLeast: 12) {
            let whole = try XCTUnwrap(Hex.decode(text(vector, "zip")))
            for length in 0..<min(whole.count, 400) {
                XCTAssertThrowsError(try list(ofPackage: Array(whole[..<length]))) { XCTAssert($0 is PackageError) }
            }
        }
    }

    func testListsHaveTheirCanonicalBytes() throws {
        for vector in try cases("file-lists.json", "lists", atLeast: 7) {
            let name = try text(vector, "name")
            let files = try XCTUnwrap(vector["files"]?.asArray).map { file in
                let content = Utf8.encode(try text(file, "content"))
                return ListedFile(path: try text(file, "path"), size: content.count, sha256: Sha256.of(content))
            }
            let canonical = Utf8.encode(try text(vector, "canonical"))
            let list = try FileList(files)
            XCTAssertEqual(list.canonical(), canonical, name)
            XCTAssertEqual(list.manifest().hex, try text(vector, "manifest"), name)
            XCTAssertEqual(try FileList.parse(canonical).canonical(), canonical, name)
        }
    }

    func testTextsThatAreNoListsAreRefused() throws {
        for vector in try cases("file-lists.json", "refused", atLeast: 33) {
            let name = try text(vector, "name")
            let bytes = Utf8.encode(try text(vector, "text"))
            XCTAssertThrowsError(try FileList.parse(bytes), name) { XCTAssert($0 is PackageError) }
        }
    }
}
