// An offered update is not installed. The raw value is the code of the reason.

enum OfferError: String, Refusal {
    case malformedAnswer = "malformed-answer"
    case notSigned = "not-signed"
    case otherPackage = "other-package"
    case revoked
    case otherPlatform = "other-platform"
    case otherFingerprint = "other-fingerprint"
    case notNewer = "not-newer"

    var code: String { rawValue }

    var mayPass: Bool { self == .notSigned }

    var message: String {
        switch self {
        case .malformedAnswer: return "the response has no version and build number"
        case .notSigned: return "no role signed this version and build"
        case .otherPackage: return "the signed update differs from the offered one"
        case .revoked: return "the package was revoked"
        case .otherPlatform: return "it is for another platform"
        case .otherFingerprint: return "its fingerprint differs from the app's"
        case .notNewer: return "it is not newer than the running version"
        }
    }
}
