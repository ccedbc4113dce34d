/**
 * A client for the TUF conformance suite (its `CLIENT-CLI.md`): this core's workflow, with what only the suite needs: the
 * standard layout of a repository, any delegations, any names of roles, SHA-512, and no check of app and repository.
 * `docs/reference/trust.md#conformance` says how to run it.
 */
package dev.launchway.core.trust;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

public final class ConformanceClient {
    private final Map<String, String> options = new TreeMap<String, String>();
    private final List<String> targetNames = new ArrayList<String>();
    private String command;
    /** The file with the first root, for the command `init`. */
    private String root;

    private ConformanceClient(String[] arguments) {
        for (int at = 0; at < arguments.length; at++) {
            String word = arguments[at];
            if (word.equals("--target-name")) {
                targetNames.add(arguments[++at]);
            } else if (word.startsWith("--")) {
                options.put(word, arguments[++at]);
            } else if (command == null) {
                command = word;
            } else {
                root = word;
            }
        }
    }

    public static void main(String[] arguments) {
        try {
            new ConformanceClient(arguments).run();
        } catch (Exception refusal) {
            System.err.println(refusal.getMessage());
            System.exit(1);
        }
    }

    private void run() throws Exception {
        Path metadata = Paths.get(options.get("--metadata-dir"));
        if (command.equals("init")) {
            Files.createDirectories(metadata);
            Files.write(metadata.resolve("root.json"), Files.readAllBytes(Paths.get(root)));
            return;
        }
        ConformanceSession session = new ConformanceSession(metadata, options.get("--metadata-url"));
        session.refresh();
        if (!command.equals("download")) {
            return;
        }
        ConformanceSearch search = new ConformanceSearch(session);
        for (String name : targetNames) {
            ConformanceTarget target = search.find(name);
            if (target == null) {
                throw new IOException("no role has the target " + name);
            }
            target.download(options.get("--target-base-url"), Paths.get(options.get("--target-dir")));
        }
    }
}
