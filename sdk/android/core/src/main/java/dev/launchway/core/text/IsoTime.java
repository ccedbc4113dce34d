/** Times on the wire: ISO 8601 in UTC with milliseconds, such as `2026-11-20T10:00:00.000Z`. */
package dev.launchway.core.text;

import java.text.ParsePosition;
import java.text.SimpleDateFormat;
import java.util.Date;
import java.util.Locale;
import java.util.TimeZone;

public final class IsoTime {
    /** The last millisecond of the year 9999. */
    private static final long MAX = 253_402_300_799_999L;

    private IsoTime() {}

    /** The text of a time in milliseconds since 1970. Times before 1970 or after 9999 are clamped. */
    public static String write(long time) {
        return format().format(new Date(Math.max(0, Math.min(time, MAX))));
    }

    /** The time that {@link #write} wrote in this way; -1 for any other text. */
    public static long read(String text) {
        Date date = format().parse(text, new ParsePosition(0));
        // The format also reads years of other lengths, and ignores what follows.
        return date != null && write(date.getTime()).equals(text) ? date.getTime() : -1;
    }

    /** Formats are not safe for use by several threads. */
    private static SimpleDateFormat format() {
        SimpleDateFormat format = new SimpleDateFormat("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'", Locale.ROOT);
        format.setTimeZone(TimeZone.getTimeZone("UTC"));
        return format;
    }
}
