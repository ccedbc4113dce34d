// Times on the wire: ISO 8601 in UTC with milliseconds, such as `2026-11-20T10:00:00.000Z`.

enum IsoTime {
    private static let form = "0000-00-00T00:00:00.000Z"
    /// The last millisecond of the year 9999.
    private static let max = 253_402_300_799_999

    /// The text of a time in milliseconds since 1970. Times before 1970 or after 9999 are clamped.
    static func write(_ time: Int) -> String {
        let utc = UtcTime(sinceEpoch: Swift.max(0, Swift.min(time, max)))
        let seconds = utc.milliseconds / 1000
        let date = "\(digits(utc.year, 4))-\(digits(utc.month, 2))-\(digits(utc.day, 2))"
        let clock = "\(digits(seconds / 3600, 2)):\(digits(seconds / 60 % 60, 2)):\(digits(seconds % 60, 2))"
        return "\(date)T\(clock).\(digits(utc.milliseconds % 1000, 3))Z"
    }

    /// The time that `write` wrote in this way; nil for any other text.
    static func read(_ text: String) -> Int? {
        guard let numbers = UtcTime.numbers(in: text, form: form) else {
            return nil
        }
        let seconds = (numbers[3] * 60 + numbers[4]) * 60 + numbers[5]
        let milliseconds = seconds * 1000 + numbers[6]
        let utc = UtcTime(year: numbers[0], month: numbers[1], day: numbers[2], milliseconds: milliseconds)
        guard let time = utc?.sinceEpoch else {
            return nil
        }
        // The 61st minute is spelled otherwise, and times before 1970 are never written.
        return write(time).isExactly(text) ? time : nil
    }

    private static func digits(_ number: Int, _ count: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: count - text.utf8.count) + text
    }
}
