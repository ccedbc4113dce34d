// An offered update is not installed.

enum OfferError: Refusal, Equatable {
    case malformedAnswer
    /// No role signed this version and build.
    case notSigned(Version, build: Int)
    case otherPackage
    case revoked
    case otherPlatform
    case otherFingerprint
    case notNewer

    var code: String {
        switch self {
        case .malformedAnswer: return "malformed-answer"
        case .notSigned: return "not-signed"
        case .otherPackage: return "other-package"
        case .revoked: return "revoked"
        case .otherPlatform: return "other-platform"
        case .otherFingerprint: return "other-fingerprint"
        case .notNewer: return "not-newer"
        }
    }

    var mayPass: Bool {
        if case .notSigned = self { return true }
        return false
    }

    var message: String {
        switch self {
        case .malformedAnswer: return "the response has no version and build number"
        case .notSigned(let version, let build): return "no role signed version \(version) build \(build)"
        case .otherPackage: return "the signed update differs from the offered one"
        case .revoked: return "the package was revoked"
        case .otherPlatform: return "it is for another platform"
        case .otherFingerprint: return "its fingerprint differs from the app's"
        case .notNewer: return "it is not newer than the running version"
        }
    }
}
