/** Packages and file lists in `sdk/vectors` are taken and refused as the vectors say. */
package dev.launchway.core.packages;

import dev.launchway.core.digest.Sha256;
import dev.launchway.core.json.JsonValue;
import dev.launchway.core.testing.Check;
import dev.launchway.core.testing.Vectors;
import dev.launchway.core.text.Hex;
import dev.launchway.core.text.Utf8;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

public final class PackageVectorsTest {
    public void goodPackagesHaveTheirManifest() throws Exception {
        List<JsonValue> cases = Vectors.read("hostile-zips/zips.json").get("good").asArray();
        Check.that(cases.size() >= 12, "the vectors are complete");
        for (JsonValue vector : cases) {
            FileList list = listOf(Hex.decode(vector.get("zip").asText()));
            Check.equal(vector.get("manifest").asText(), list.manifest().toString(), vector.get("name").asText());
        }
    }

    public void hostilePackagesAreRefused() throws Exception {
        List<JsonValue> cases = Vectors.read("hostile-zips/zips.json").get("refused").asArray();
        Check.that(cases.size() >= 75, "the vectors are complete");
        for (JsonValue vector : cases) {
            try {
                listOf(Hex.decode(vector.get("zip").asText()));
            } catch (PackageException refused) {
                continue;
            }
            throw new AssertionError("taken: " + vector.get("name"));
        }
    }

    public void changedPackagesAreReadOrRefused() throws Exception {
        Random random = new Random(7);
        for (JsonValue vector : Vectors.read("hostile-zips/zips.json").get("good").asArray()) {
            for (int round = 0; round < 2_000; round++) {
                byte[] bytes = Hex.decode(vector.get("zip").asText());
                for (int changes = 1 + random.nextInt(3); changes > 0; changes--) {
                    bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
                }
                try {
                    listOf(bytes);
                } catch (PackageException refused) {
                    Check.that(refused.getMessage().length() < 300, "messages are short");
                }
            }
        }
    }

    public void listsHaveTheirCanonicalBytes() throws Exception {
        List<JsonValue> cases = Vectors.read("file-lists.json").get("lists").asArray();
        Check.that(cases.size() >= 7, "the vectors are complete");
        for (JsonValue vector : cases) {
            List<ListedFile> files = new ArrayList<ListedFile>();
            for (JsonValue file : vector.get("files").asArray()) {
                byte[] content = Utf8.encode(file.get("content").asText());
                files.add(new ListedFile(file.get("path").asText(), content.length, Sha256.of(content)));
            }
            String name = vector.get("name").asText();
            String canonical = vector.get("canonical").asText();
            FileList list = FileList.of(files);
            Check.equal(canonical, Utf8.decode(list.canonical()), name);
            Check.equal(vector.get("manifest").asText(), list.manifest().toString(), name);
            FileList parsed = FileList.parse(Utf8.encode(canonical));
            Check.equal(canonical, Utf8.decode(parsed.canonical()), name);
        }
    }

    public void textsThatAreNoListsAreRefused() throws Exception {
        List<JsonValue> cases = Vectors.read("file-lists.json").get("refused").asArray();
        Check.that(cases.size() >= 33, "the vectors are complete");
        for (JsonValue vector : cases) {
            try {
                FileList.parse(Utf8.encode(vector.get("text").asText()));
            } catch (PackageException refused) {
                continue;
            }
            throw new AssertionError("taken: " + vector.get("name"));
        }
    }

    private static FileList listOf(byte[] bytes) throws IOException, PackageException {
        try (PackageArchive archive = PackageArchive.open(new MemorySource(bytes))) {
            return FileList.ofArchive(archive);
        }
    }
}
