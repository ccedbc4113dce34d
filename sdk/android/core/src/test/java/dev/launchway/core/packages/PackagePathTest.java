/** Paths: which are allowed, and which meet on some device. */
package dev.launchway.core.packages;

import dev.launchway.core.testing.Check;
import dev.launchway.core.text.Utf8;
import java.util.Arrays;

public final class PackagePathTest {
    public void plainPathsAreAllowed() throws Exception {
        for (String path : new String[] {"index.html", "a/b/c.js", "a/", "..a/.b/c..", "ab:c", "\u00fc/\ud83d\ude00.png"}) {
            Check.equal(path, PackagePath.check(Utf8.encode(path)));
        }
    }

    public void pathsThatClimbOrConfuseAreRefused() {
        String[] paths = {
            "", "/", "/etc/passwd", "..", "../a", "a/../../b", "a/..", "a/../", "a//b", "./a", "a//", "..\\a", "C:/a",
            "c:a", "a\0b", "a\nb", "a\u0085b",
        };
        for (String path : paths) {
            Check.that(isRefused(Utf8.encode(path)), "refused: " + path);
        }
        Check.that(isRefused(new byte[] {'a', (byte) 0xff}), "not UTF-8");
        char[] part = new char[256];
        Arrays.fill(part, 'a');
        Check.that(isRefused(Utf8.encode(new String(part))), "a long part");
    }

    public void placesIgnoreCaseAndUnicodeForm() {
        String[][] pairs = {
            {"A/b", "a/B"},
            {"\u00e9", "e\u0301"},
            {"\u00c9", "e\u0301"},
            {"\u017f", "S"},
            {"STRASSE", "stra\u00dfe"},
            {"\u03a3\u03a3", "\u03c3\u03c2"},
        };
        for (String[] pair : pairs) {
            Check.equal(PackagePath.placeOf(pair[0]), PackagePath.placeOf(pair[1]), pair[0]);
        }
        Check.that(!PackagePath.placeOf("e").equals(PackagePath.placeOf("\u00e9")), "accents count");
    }

    public void aPathIsUsedOnceAndAsOneKind() {
        Check.that(collide("a", "b", "a"), "twice");
        Check.that(collide("a", "a-b", "a/b"), "a file used as a folder");
        Check.that(collide("a/", "a"), "a file and a folder");
        Check.that(collide("I/x", "i/X"), "letter case");
        Check.that(!collide("a/", "a/b", "ab"), "a folder and its file");
    }

    private static boolean isRefused(byte[] path) {
        try {
            PackagePath.check(path);
            return false;
        } catch (PackageException refused) {
            return true;
        }
    }

    private static boolean collide(String... paths) {
        try {
            PackagePath.checkCollisions(Arrays.asList(paths));
            return false;
        } catch (PackageException refused) {
            return true;
        }
    }
}
