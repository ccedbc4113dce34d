// The body of a response in memory, which may break before its end, or have none.

@testable import LaunchwayCore

final class MemoryBody: ResponseBody {
    enum Ending {
        case whole
        case broken
        case endless
    }

    private var rest: ArraySlice<UInt8>
    private let ending: Ending
    private(set) var isClosed = false

    init(_ bytes: [UInt8], _ ending: Ending = .whole) {
        rest = bytes[...]
        self.ending = ending
    }

    func read(max: Int) throws -> [UInt8] {
        if !rest.isEmpty {
            let next = rest.prefix(max)
            rest = rest.dropFirst(max)
            return Array(next)
        }
        switch ending {
        case .whole: return []
        case .broken: throw NetworkError("connection reset")
        case .endless: return [UInt8](repeating: 0, count: max)
        }
    }

    func close() {
        isClosed = true
    }
}
