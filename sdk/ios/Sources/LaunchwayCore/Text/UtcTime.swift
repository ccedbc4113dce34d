// Days of the Gregorian calendar, counted from 1970, and the digits of times. Formatters of the platform depend on the
// phone's settings.

struct UtcTime {
    private static let daysOfMonths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    private static let daysBefore1970 = 719_528
    private static let millisecondsOfDay = 86_400_000

    let year: Int
    let month: Int
    let day: Int
    /// Of the day.
    let milliseconds: Int

    /// Nil for a day that the calendar does not have.
    init?(year: Int, month: Int, day: Int, milliseconds: Int) {
        guard (1...12).contains(month), (1...Self.days(of: month, in: year)).contains(day) else {
            return nil
        }
        self.year = year
        self.month = month
        self.day = day
        self.milliseconds = milliseconds
    }

    /// The time that is so many milliseconds, and not less than none, after the beginning of 1970.
    init(sinceEpoch: Int) {
        milliseconds = sinceEpoch % Self.millisecondsOfDay
        var rest = sinceEpoch / Self.millisecondsOfDay + Self.daysBefore1970
        // 400 years have 146,097 days, so this estimate is at most two too low.
        var year = rest * 400 / 146_097 - 1
        while Self.days(before: year + 1) <= rest {
            year += 1
        }
        rest -= Self.days(before: year)
        var month = 1
        while rest >= Self.days(of: month, in: year) {
            rest -= Self.days(of: month, in: year)
            month += 1
        }
        self.year = year
        self.month = month
        day = rest + 1
    }

    /// Milliseconds since 1970.
    var sinceEpoch: Int {
        var days = Self.days(before: year) - Self.daysBefore1970 + day - 1
        for earlier in 1..<month {
            days += Self.days(of: earlier, in: year)
        }
        return days * Self.millisecondsOfDay + milliseconds
    }

    /// The days from the beginning of year 0, which is a leap year.
    private static func days(before year: Int) -> Int {
        365 * year + (year + 3) / 4 - (year + 99) / 100 + (year + 399) / 400
    }

    private static func days(of month: Int, in year: Int) -> Int {
        let isLeapYear = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return month == 2 && isLeapYear ? 29 : daysOfMonths[month - 1]
    }

    /// The numbers in a text of this form, where each run of `0` is a number of so many ASCII digits; nil for other texts.
    static func numbers(in text: String, form: String) -> [Int]? {
        let zero = UInt8(ascii: "0")
        guard text.utf8.count == form.utf8.count else {
            return nil
        }
        var numbers: [Int] = []
        var isInNumber = false
        for (letter, wanted) in zip(text.utf8, form.utf8) {
            if wanted != zero {
                guard letter == wanted else {
                    return nil
                }
                isInNumber = false
                continue
            }
            guard letter >= zero, letter <= UInt8(ascii: "9") else {
                return nil
            }
            let higher = isInNumber ? numbers.removeLast() : 0
            numbers.append(10 * higher + Int(letter - zero))
            isInNumber = true
        }
        return numbers
    }
}
