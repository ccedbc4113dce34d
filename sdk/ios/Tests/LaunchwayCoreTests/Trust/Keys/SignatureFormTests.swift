// What of P-256 is checked before a library is asked, because libraries differ.
import XCTest

@testable import LaunchwayCore

final class SignatureFormTests: XCTestCase {
    private let order = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"

    func testTheFormOfValidSignaturesIsTaken() throws {
        for vector in try XCTUnwrap(Vectors.read("trust/signatures.json")["signatures"]?.asArray) {
            if vector["valid"] == .bool(true) {
                XCTAssertTrue(isSignature(try XCTUnwrap(vector["signature"]?.asText)))
            }
        }
        let belowOrder = order.dropLast() + "0"
        XCTAssertTrue(isSignature("3006020101020101"), "the smallest numbers")
        XCTAssertTrue(isSignature("3046022100\(belowOrder)022100\(belowOrder)"), "the largest numbers")
        XCTAssertTrue(isSignature("3007020101" + "02020080"), "a zero before the sign")
    }

    func testEveryOtherFormIsRefused() {
        let cases = [
            "", "30", "3000", "3003020101", "3006020100020101", "3006020101020100", "3006020101020181",
            "300702020001020101", "3006030101020101", "3106020101020101", "3006020101030101", "30060201010201",
            "300602010102010100", "3007020101020101", "300602010102010101", "3008020101020101020101", "300402000200",
            "308106020101020101", "3006028101020101", "30060201010202", "3080020101020101", "30060201ff020101",
            "30ff020101020101", "300602ff01020101", "3026022100\(order)020101", "3026020101022100\(order)",
            "3027022200\("00" + order)020101",
        ]
        for digits in cases {
            XCTAssertFalse(isSignature(digits), digits)
        }
    }

    func testOnlyPointsOfTheCurveAreOnIt() {
        let x = "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
        let y = "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5"
        XCTAssertTrue(isOnCurve(x, y), "the generator")
        XCTAssertFalse(isOnCurve(x, y.dropLast() + "4"), "beside the curve")
        XCTAssertFalse(isOnCurve(y, x), "swapped")
        let zero = String(repeating: "0", count: 64)
        XCTAssertFalse(isOnCurve(zero, zero), "zeros")
        let root = "459243b9aa581806fe913bce99817ade11ca503c64d9a3c533415c083248fbcc"
        XCTAssertTrue(isOnCurve(zero.dropLast() + "5", root), "a small number")
        // The same point, with a field element that is not the smallest.
        let fiveAbove = "ffffffff00000001000000000000000000000001000000000000000000000004"
        XCTAssertFalse(isOnCurve(fiveAbove, root), "above the field")
        let prime = "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff"
        XCTAssertFalse(isOnCurve(prime, prime), "the prime")
        XCTAssertFalse(isOnCurve(String(repeating: "f", count: 64), String(repeating: "f", count: 64)), "all bits")
    }

    private func isSignature(_ digits: String) -> Bool {
        Hex.decode(digits).map(SignatureForm.isValid) ?? false
    }

    private func isOnCurve(_ x: String, _ y: String) -> Bool {
        Hex.decode("04" + x + y).map(FieldElement.isOnCurve) ?? false
    }
}
