// A client for the TUF conformance suite (its `CLIENT-CLI.md`): the core's workflow, with what only the suite needs: the
// standard layout of a repository, any delegations, any names of roles, SHA-512, and no check of app and repository.
// docs/reference/trust.md#conformance says how to run it.
import Foundation

@testable import LaunchwayCore

do {
    let arguments = try Arguments(CommandLine.arguments.dropFirst())
    switch arguments.command {
    case .begin(let root):
        try MetadataFolder(arguments.metadataFolder).write("root", try readFile(root))
    case .refresh:
        try Session(arguments).refresh()
    case .download:
        let session = try Session(arguments)
        try session.refresh()
        for name in arguments.targetNames {
            try session.download(name)
        }
    }
} catch {
    let message = (error as? Refusal)?.message ?? (error as? FormError)?.message ?? "\(error)"
    FileHandle.standardError.write(Data("\(message)\n".utf8))
    exit(1)
}
