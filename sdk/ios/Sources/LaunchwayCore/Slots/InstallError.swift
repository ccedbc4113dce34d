// A package cannot be installed.

enum InstallError: Error, Equatable {
    /// The package breaks a rule, and does so for ever.
    case faulty(String)
    /// Its files are not those that were promised.
    case wrongFiles
    /// There is too little room.
    case noSpace(needed: Int, free: Int)

    /// A file system with rules of its own lets two files of the package meet.
    static func collision(_ path: String) -> InstallError {
        .faulty("the package and its file list differ at `\(path)`")
    }

    var isFaulty: Bool {
        if case .faulty = self { return true }
        return false
    }

    var message: String {
        switch self {
        case .faulty(let fault): return fault
        case .wrongFiles: return "the files of the package differ from the published files"
        case .noSpace(let needed, let free): return "installing needs \(needed) bytes, and \(free) are free"
        }
    }
}
