// Keys and signatures in `sdk/vectors/trust` count or do not count as the vectors say.
import XCTest

@testable import LaunchwayCore

final class SignatureVectorsTests: XCTestCase {
    private var vectors = JsonValue.null

    override func setUpWithError() throws {
        vectors = try Vectors.read("trust/signatures.json")
    }

    private func key(_ pem: JsonValue?) throws -> PublicKey {
        try XCTUnwrap(PublicKey(pem: XCTUnwrap(pem?.asText)))
    }

    func testSignaturesVerifyAsTheVectorsSay() throws {
        let key = try key(vectors["publicKey"])
        let offCurve = try self.key(vectors["publicKeys"]?["verifiesNothing"])
        let cases = try XCTUnwrap(vectors["signatures"]?.asArray)
        XCTAssertGreaterThanOrEqual(cases.count, 20, "the vectors are complete")
        for vector in cases {
            let message = Utf8.encode(try XCTUnwrap(vector["message"]?.asText))
            let der = Hex.decode(try XCTUnwrap(vector["signature"]?.asText))
            let isValid = der.map { key.verifies(message, $0) } ?? false
            XCTAssertEqual(isValid, vector["valid"]?.asBool, vector["name"]?.asText ?? "")
            XCTAssertFalse(der.map { offCurve.verifies(message, $0) } ?? false, "no point of the curve")
        }
    }

    func testEverySpellingOfAKeyIsOneKey() throws {
        let key = try key(vectors["publicKey"])
        for pem in try XCTUnwrap(vectors["publicKeys"]?["accepted"]?.asArray) {
            XCTAssertEqual(try self.key(pem), key)
            XCTAssertEqual(try self.key(pem).id, key.id)
        }
    }

    func testOtherKeysAreRefused() throws {
        for vector in try XCTUnwrap(vectors["publicKeys"]?["refused"]?.asArray) {
            let pem = try XCTUnwrap(vector["pem"]?.asText)
            XCTAssertNil(PublicKey(pem: pem), vector["name"]?.asText ?? "")
        }
    }

    func testAChangedSignatureNeverVerifies() throws {
        let key = try key(vectors["publicKey"])
        let vector = try XCTUnwrap(vectors["signatures"]?.asArray?.first)
        let message = Utf8.encode(try XCTUnwrap(vector["message"]?.asText))
        let der = try XCTUnwrap(Hex.decode(XCTUnwrap(vector["signature"]?.asText)))
        XCTAssertTrue(key.verifies(message, der))
        for bit in 0..<8 * der.count {
            var changed = der
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            XCTAssertFalse(key.verifies(message, changed), "bit \(bit)")
        }
    }

    func testLibrariesRefuseWhatIsOffTheCurveThemselves() throws {
        let point = [4] + [UInt8](repeating: 1, count: 64)
        XCTAssertFalse(Ecdsa.verifies([], try XCTUnwrap(Hex.decode("3006020101020101")), point: point))
    }
}
