/** The times of metadata, such as `2026-11-20T10:00:00Z`: UTC in whole seconds, and nothing else. */
package dev.launchway.core.trust.metadata;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

final class MetadataTime {
    private static final Pattern FORM = Pattern.compile(
            "([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})Z");
    private static final int[] DAYS_OF_MONTHS = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    private static final long DAYS_BEFORE_1970 = 719_528;

    private MetadataTime() {}

    /** Milliseconds since 1970; null for any other text and for days that the calendar does not have. */
    static Long parse(String text) {
        Matcher fields = FORM.matcher(text);
        if (!fields.matches()) {
            return null;
        }
        int[] numbers = new int[6];
        for (int at = 0; at < numbers.length; at++) {
            numbers[at] = Integer.parseInt(fields.group(at + 1));
        }
        int year = numbers[0];
        int month = numbers[1];
        int day = numbers[2];
        boolean valid = month >= 1 && month <= 12 && day >= 1 && day <= daysOf(year, month);
        if (!valid || numbers[3] > 23 || numbers[4] > 59 || numbers[5] > 59) {
            return null;
        }
        // Leap days before this year; year 0 is one with a leap day.
        long days = 365L * year + (year + 3) / 4 - (year + 99) / 100 + (year + 399) / 400 - DAYS_BEFORE_1970;
        for (int before = 1; before < month; before++) {
            days += daysOf(year, before);
        }
        long seconds = ((days + day - 1) * 24 + numbers[3]) * 3600 + numbers[4] * 60 + numbers[5];
        return seconds * 1000;
    }

    private static int daysOf(int year, int month) {
        boolean isLeapYear = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        return month == 2 && isLeapYear ? 29 : DAYS_OF_MONTHS[month - 1];
    }
}
