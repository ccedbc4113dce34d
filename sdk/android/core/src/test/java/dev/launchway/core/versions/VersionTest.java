/** Versions and build numbers are read and ordered as the reference says. */
package dev.launchway.core.versions;

import dev.launchway.core.testing.Check;

public final class VersionTest {
    public void readsWhatTheReferenceAllows() {
        String[][] cases = {
            {"1", "1.0.0"},
            {"1.2", "1.2.0"},
            {"0", "0.0.0"},
            {"1.2.3", "1.2.3"},
            {"1.2.3+001.-", "1.2.3"},
            {"1.2.3-rc.1", "1.2.3-rc.1"},
            {"1.2.3-rc-1.0a+x-y.z", "1.2.3-rc-1.0a"},
            {"1.0.0--", "1.0.0--"},
            {"18446744073709551615.0.0", "18446744073709551615.0.0"},
            {"1.0.0-99999999999999999999999", "1.0.0-99999999999999999999999"},
        };
        for (String[] pair : cases) {
            Check.equal(pair[1], String.valueOf(Version.parse(pair[0])), pair[0]);
        }
    }

    public void refusesEverythingElse() {
        String[] texts = {
            "", " ", "1.", ".1", "1..2", "1.2.3.", "1.2.3.4", "01", "1.02", "1.2.03", "v1.2.3", "1.2.3 ", " 1.2.3", "-1",
            "+1", "1.2.-3", "1-rc", "1.2-rc", "1+5", "1.2+5", "1.2.3-", "1.2.3+", "1.2.3-+5", "1.2.3-a..b", "1.2.3-01",
            "1.2.3-a.01", "1.2.3+a..b", "1.2.3+a+b", "1.2.3-a_b", "1.2.3-\u00e9", "\u0661.\u0662.\u0663", "1.2.x",
            "1,2,3", "1.2.3\n", "18446744073709551616.0.0", "0.0.18446744073709551616", "1.0.0-a b",
        };
        for (String text : texts) {
            Check.equal(null, Version.parse(text), text);
        }
    }

    public void isOrderedAsSemanticVersionsAre() {
        String[] rising = {
            "0.0.1", "0.2", "0.10.0", "1.0.0-1", "1.0.0-2", "1.0.0-10", "1.0.0-99999999999999999999",
            "1.0.0-100000000000000000000", "1.0.0--", "1.0.0-A", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta",
            "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "2.0.0", "2.1.0", "2.1.1", "10.0.0",
        };
        for (int low = 0; low < rising.length; low++) {
            for (int high = 0; high < rising.length; high++) {
                int order = Version.parse(rising[low]).compareTo(Version.parse(rising[high]));
                Check.equal(Integer.signum(low - high), Integer.signum(order), rising[low] + " " + rising[high]);
            }
        }
    }

    public void metadataAndShortnessMakeNoDifference() {
        Check.equal(Version.parse("1.0.0+1"), Version.parse("1"));
        Check.equal(Version.parse("1.0.0-a+1"), Version.parse("1.0.0-a"));
    }

    public void aBuildNumberHas1To18Digits() {
        Check.equal(7L, BuildNumber.parse("007"));
        Check.equal(999999999999999999L, BuildNumber.parse("999999999999999999"));
        for (String text : new String[] {"", " ", "1 ", "-1", "+1", "1.0", "1e3", "a", "\u0663", "1000000000000000000"}) {
            Check.equal(null, BuildNumber.parse(text), text);
        }
    }

    public void anUpdateIsNewerByItsFirstNumber() {
        Object[][] cases = {
            {42L, "41", true},
            {42L, "42", false},
            {42L, "43", false},
            {43L, "0042", true},
            {1L, "1.0.3", false},
            {2L, "1.99999999999999999999999", true},
            {1L, "0.9", true},
            {0L, "0", false},
            {999999999999999999L, "18446744073709551616", false},
            {1L, "0000000000000000000000000000000000000000", true},
            {5L, "1.", false},
            {5L, "a", false},
        };
        for (Object[] row : cases) {
            Check.equal(row[2], BuildNumber.isNewer((Long) row[0], (String) row[1]), row[0] + " " + row[1]);
        }
    }
}
