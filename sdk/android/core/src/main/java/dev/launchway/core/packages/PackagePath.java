/** Paths in packages: which are allowed, and which meet on some device (docs/reference/file-lists.md#paths). */
package dev.launchway.core.packages;

import dev.launchway.core.text.Utf8;
import java.text.Normalizer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Locale;

final class PackagePath {
    /** The most bytes of a path. */
    static final int MAX_BYTES = 512;
    /** The most bytes of a file name on common file systems. */
    private static final int MAX_PART_BYTES = 255;
    /** Replaces the slash, and sorts before every character that paths may contain. */
    private static final char SEPARATOR = '\0';

    private PackagePath() {}

    /**
     * Checks that a path stays inside the folder that it is unpacked to, on every system, and returns it. A trailing slash
     * marks a folder.
     */
    static String check(byte[] bytes) throws PackageException {
        if (bytes.length == 0) {
            throw new PackageException("an entry has no name");
        }
        if (bytes.length > MAX_BYTES) {
            throw new PackageException("an entry has a path longer than " + MAX_BYTES + " bytes");
        }
        String path = Utf8.decode(bytes);
        if (path == null) {
            throw new PackageException("an entry has a name that is not UTF-8");
        }
        for (int at = 0; at < path.length(); at++) {
            if (Character.isISOControl(path.charAt(at))) {
                throw PackageException.ofEntry(path, "has control characters in its path");
            }
        }
        if (path.indexOf('\\') >= 0) {
            throw PackageException.ofEntry(path, "has a backslash in its path");
        }
        if (path.startsWith("/")) {
            throw PackageException.ofEntry(path, "has an absolute path");
        }
        if (path.length() > 1 && path.charAt(1) == ':' && isLetter(path.charAt(0))) {
            throw PackageException.ofEntry(path, "starts with a drive letter");
        }
        checkParts(path);
        return path;
    }

    /** Checks the path of a file: as {@link #check}, but it must not name a folder. */
    static String checkFile(byte[] bytes) throws PackageException {
        String path = check(bytes);
        if (path.endsWith("/")) {
            throw notPlain(path);
        }
        return path;
    }

    private static boolean isLetter(char character) {
        return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z');
    }

    private static PackageException notPlain(String path) {
        return PackageException.ofEntry(path, "has an empty part or a `.` in its path");
    }

    private static void checkParts(String path) throws PackageException {
        for (String part : ofFile(path).split("/", -1)) {
            if (part.equals("..")) {
                throw PackageException.ofEntry(path, "is outside the package");
            }
            if (part.isEmpty() || part.equals(".")) {
                throw notPlain(path);
            }
            if (Utf8.encode(part).length > MAX_PART_BYTES) {
                throw PackageException.ofEntry(path, "has a part longer than " + MAX_PART_BYTES + " bytes");
            }
        }
    }

    /** The path without a folder's trailing slash. */
    static String ofFile(String path) {
        return path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
    }

    /** A path, and where it is on a device that ignores letter case and Unicode forms. */
    private static final class Place implements Comparable<Place> {
        final String place;
        final String path;

        Place(String path) {
            this.path = path;
            this.place = placeOf(ofFile(path));
        }

        boolean isFolder() {
            return path.endsWith("/");
        }

        @Override
        public int compareTo(Place other) {
            return place.compareTo(other.place);
        }
    }

    /** Checks that each of these paths is a place of its own on every device. */
    static void checkCollisions(Collection<String> paths) throws PackageException {
        List<Place> places = new ArrayList<Place>(paths.size());
        for (String path : paths) {
            places.add(new Place(path));
        }
        Collections.sort(places);
        // A file is directly followed by the entries that use it as a folder: their places begin with its own and the
        // lowest character.
        for (int at = 1; at < places.size(); at++) {
            Place one = places.get(at - 1);
            Place next = places.get(at);
            if (next.place.equals(one.place)) {
                throw PackageException.ofEntry(next.path, "has the same path as another entry on some devices");
            }
            if (!one.isFolder() && next.place.startsWith(one.place + SEPARATOR)) {
                throw PackageException.ofEntry(one.path, "is a file, but other entries use it as a folder");
            }
        }
    }

    /**
     * Upper case comes first because it joins what lower case alone keeps apart, such as `ß` and `ss`. Each character is
     * mapped alone, because its neighbors change what a sigma becomes.
     */
    static String placeOf(String path) {
        if (path.length() == Utf8.encode(path).length) {
            return path.toLowerCase(Locale.ROOT).replace('/', SEPARATOR);
        }
        String upper = mapped(Normalizer.normalize(path, Normalizer.Form.NFD), true);
        String folded = Normalizer.normalize(mapped(upper, false), Normalizer.Form.NFC);
        return folded.replace('/', SEPARATOR);
    }

    private static String mapped(String text, boolean toUpper) {
        StringBuilder mapped = new StringBuilder(text.length());
        int at = 0;
        while (at < text.length()) {
            int next = text.offsetByCodePoints(at, 1);
            String character = text.substring(at, next);
            mapped.append(toUpper ? character.toUpperCase(Locale.ROOT) : character.toLowerCase(Locale.ROOT));
            at = next;
        }
        return mapped.toString();
    }
}
