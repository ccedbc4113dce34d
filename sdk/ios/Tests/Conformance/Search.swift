// Which roles are asked for a target.

@testable import LaunchwayCore

enum Search {
    /// The delegations of a file for a target, and whether nobody else is asked after them.
    static func next(_ file: Metadata<Targets>, _ name: String) -> (delegations: [Delegation], isLast: Bool) {
        let fitting = (file.body.delegations ?? []).filter { $0.paths.contains { fits($0.text, name) } }
        guard let end = fitting.firstIndex(where: \.terminating) else {
            return (fitting, false)
        }
        return (Array(fitting[...end]), true)
    }

    private static func fits(_ pattern: String, _ name: String) -> Bool {
        let slash = UInt8(ascii: "/")
        let patterns = Array(pattern.utf8).split(separator: slash, omittingEmptySubsequences: false)
        let parts = Array(name.utf8).split(separator: slash, omittingEmptySubsequences: false)
        return patterns.count == parts.count && zip(patterns, parts).allSatisfy { matches($0, $1) }
    }

    /// Whether a part of a path fits a pattern of `*` and `?`: going back to the last star suffices.
    private static func matches(_ pattern: ArraySlice<UInt8>, _ part: ArraySlice<UInt8>) -> Bool {
        var (left, right) = (pattern, part)
        var last: (pattern: ArraySlice<UInt8>, part: ArraySlice<UInt8>)?
        while let byte = right.first {
            if left.first == UInt8(ascii: "*") {
                left = left.dropFirst()
                last = (left, right)
            } else if left.first == byte || left.first == UInt8(ascii: "?") {
                left = left.dropFirst()
                right = right.dropFirst()
            } else if let star = last {
                (left, right) = (star.pattern, star.part.dropFirst())
                last = (left, right)
            } else {
                return false
            }
        }
        return left.allSatisfy { $0 == UInt8(ascii: "*") }
    }
}
