// The arguments of the suite's protocol, in any order.

/// Whatever goes wrong ends the program with exit code 1 and this message.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

struct Arguments {
    enum Command {
        /// Begin with the root in this file.
        case begin(root: String)
        /// Renew the metadata of the top-level roles.
        case refresh
        /// Renew it, then fetch targets.
        case download
    }

    let command: Command
    private(set) var metadataFolder = ""
    private(set) var metadataUrl = ""
    private(set) var targetNames: [String] = []
    private(set) var targetUrl = ""
    private(set) var targetFolder = ""

    init(_ given: ArraySlice<String>) throws {
        var rest = given
        var command: Command?
        while let argument = rest.popFirst() {
            if argument == "refresh" || argument == "download" {
                command = argument == "refresh" ? .refresh : .download
                continue
            }
            guard let value = rest.popFirst() else {
                throw Failure("\(argument) needs a value")
            }
            switch argument {
            case "--metadata-dir": metadataFolder = value
            case "--metadata-url": metadataUrl = value
            case "--target-name": targetNames.append(value)
            case "--target-base-url": targetUrl = value
            case "--target-dir": targetFolder = value
            case "init": command = .begin(root: value)
            default: throw Failure("unknown argument \(argument)")
            }
        }
        guard let found = command else {
            throw Failure("init, refresh or download is missing")
        }
        self.command = found
    }
}
