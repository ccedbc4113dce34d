// The times of metadata, such as `2026-11-20T10:00:00Z`: UTC in whole seconds, and nothing else.

enum MetadataTime {
    /// Milliseconds since 1970; nil for any other text and for days that the calendar does not have.
    static func parse(_ text: String) -> Int? {
        guard let numbers = UtcTime.numbers(in: text, form: "0000-00-00T00:00:00Z"), numbers[3] < 24, numbers[4] < 60,
            numbers[5] < 60
        else {
            return nil
        }
        let seconds = (numbers[3] * 60 + numbers[4]) * 60 + numbers[5]
        let utc = UtcTime(year: numbers[0], month: numbers[1], day: numbers[2], milliseconds: seconds * 1000)
        return utc?.sinceEpoch
    }
}
