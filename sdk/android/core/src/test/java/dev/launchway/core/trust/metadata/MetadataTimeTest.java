/** Times of metadata. */
package dev.launchway.core.trust.metadata;

import dev.launchway.core.testing.Check;

public final class MetadataTimeTest {
    public void timesAreReadInWholeSeconds() {
        Check.equal(0L, MetadataTime.parse("1970-01-01T00:00:00Z"));
        Check.equal(-1000L, MetadataTime.parse("1969-12-31T23:59:59Z"));
        Check.equal(951_782_400_000L, MetadataTime.parse("2000-02-29T00:00:00Z"));
        Check.equal(1_795_168_800_000L, MetadataTime.parse("2026-11-20T10:00:00Z"));
        Check.equal(253_402_300_799_000L, MetadataTime.parse("9999-12-31T23:59:59Z"));
        Check.equal(-62_167_219_200_000L, MetadataTime.parse("0000-01-01T00:00:00Z"));
    }

    public void everyDayFollowsTheOneBefore() {
        long expected = MetadataTime.parse("1895-12-31T00:00:00Z");
        for (int year = 1896; year < 2110; year++) {
            for (int month = 1; month <= 12; month++) {
                for (int day = 1; day <= 31; day++) {
                    Long time = MetadataTime.parse(String.format("%04d-%02d-%02dT00:00:00Z", year, month, day));
                    if (time != null) {
                        expected += 24L * 60 * 60 * 1000;
                        Check.equal(expected, time);
                    }
                }
            }
        }
    }

    public void otherTextsAreNoTimes() {
        String[] texts = {
            "", "2026-11-20", "2026-11-20T10:00:00", "2026-11-20T10:00:00.000Z", "2026-11-20t10:00:00Z",
            "2026-11-20 10:00:00Z", "2026-11-20T10:00:00+00:00", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z",
            "2026-11-31T00:00:00Z", "2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2026-11-20T24:00:00Z",
            "2026-11-20T10:60:00Z", "2026-11-20T10:00:60Z", "2026-11-20T10:00:00Z\n", "-026-11-20T10:00:00Z",
            "\u0662026-11-20T10:00:00Z", "12026-11-20T10:00:00Z",
        };
        for (String text : texts) {
            Check.equal(null, MetadataTime.parse(text), text);
        }
    }
}
