/** What tests claim. */
package dev.launchway.core.testing;

public final class Check {
    private Check() {}

    public static void that(boolean holds, String claim) {
        if (!holds) {
            throw new AssertionError(claim);
        }
    }

    public static void equal(Object expected, Object actual, String about) {
        boolean same = expected == null ? actual == null : expected.equals(actual);
        if (!same) {
            throw new AssertionError(about + ": expected <" + expected + "> and found <" + actual + ">");
        }
    }

    public static void equal(Object expected, Object actual) {
        equal(expected, actual, "value");
    }
}
