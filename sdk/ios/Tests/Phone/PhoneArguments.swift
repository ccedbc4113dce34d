// The arguments of `launchway device`, in any order.

struct PhoneArguments {
    private static let commands = ["init", "check", "install", "start", "confirm", "crash", "report", "status"]
    private static let names: Set<String> = [
        "--dir", "--timeout", "--url", "--bundle-id", "--version", "--build", "--configuration", "--fingerprint",
        "--entry-file", "--trust", "--stack",
    ]

    let command: String
    /// The platform of `init`; nil for every other command.
    let platform: String?
    private(set) var isJson = false
    private var options: [String: String] = [:]

    init(_ given: [String]) throws {
        var words: [String] = []
        var rest = given[...]
        while let word = rest.popFirst() {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            if Self.names.contains(parts[0]) {
                guard let value = parts.count == 2 ? parts[1] : rest.popFirst() else {
                    throw PhoneFailure.usage("\(word) needs a value")
                }
                options[parts[0]] = value
            } else if word == "--json" {
                isJson = true
            } else if word.hasPrefix("-") {
                throw PhoneFailure.usage("unknown option \(word)")
            } else {
                words.append(word)
            }
        }
        if words.first == "device" {
            words.removeFirst()
        }
        let command = words.isEmpty ? "" : words.removeFirst()
        platform = command == "init" && !words.isEmpty ? words.removeFirst() : nil
        self.command = command
        if !Self.commands.contains(command) || !words.isEmpty {
            throw PhoneFailure.usage("unknown command", hint: "commands are \(Self.commands.joined(separator: ", "))")
        }
    }

    subscript(name: String) -> String? {
        options[name]
    }

    func required(_ name: String) throws -> String {
        guard let value = options[name] else {
            throw PhoneFailure.usage("\(name) is missing")
        }
        return value
    }

    /// In seconds.
    func timeout() throws -> Double {
        guard let seconds = Int(options["--timeout"] ?? "30"), seconds > 0, seconds < 1_000_000 else {
            throw PhoneFailure.usage("--timeout needs a number of seconds")
        }
        return Double(seconds)
    }
}
