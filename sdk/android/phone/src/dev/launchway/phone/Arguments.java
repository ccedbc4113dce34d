/** The arguments of `launchway device`, in any order. */
package dev.launchway.phone;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

final class Arguments {
    private static final Set<String> COMMANDS = new HashSet<String>(
            Arrays.asList("init", "check", "install", "start", "confirm", "crash", "report", "status"));
    private static final Set<String> OPTIONS = new HashSet<String>(Arrays.asList(
            "--dir",
            "--timeout",
            "--url",
            "--bundle-id",
            "--version",
            "--build",
            "--configuration",
            "--fingerprint",
            "--entry-file",
            "--trust",
            "--stack"));

    final String command;
    /** The platform of `init`; null for every other command. */
    final String platform;
    final boolean json;

    private final Map<String, String> options = new TreeMap<String, String>();

    Arguments(String[] given) throws Failure {
        Deque<String> words = new ArrayDeque<String>();
        boolean asJson = false;
        for (int at = 0; at < given.length; at++) {
            String word = given[at];
            int equals = word.indexOf('=');
            String name = equals < 0 ? word : word.substring(0, equals);
            if (OPTIONS.contains(name)) {
                if (equals < 0 && at + 1 == given.length) {
                    throw Failure.usage(name + " needs a value", null);
                }
                options.put(name, equals < 0 ? given[++at] : word.substring(equals + 1));
            } else if (word.equals("--json")) {
                asJson = true;
            } else if (word.startsWith("-")) {
                throw Failure.usage("unknown option " + word, null);
            } else {
                words.add(word);
            }
        }
        if ("device".equals(words.peek())) {
            words.poll();
        }
        json = asJson;
        command = words.poll();
        platform = "init".equals(command) ? words.poll() : null;
        if (!COMMANDS.contains(String.valueOf(command)) || !words.isEmpty()) {
            throw Failure.usage("unknown command", "commands are " + COMMANDS);
        }
    }

    /** The value of an option; {@code standard} if it is not given. */
    String option(String name, String standard) {
        String value = options.get(name);
        return value == null ? standard : value;
    }

    String required(String name) throws Failure {
        String value = options.get(name);
        if (value == null) {
            throw Failure.usage(name + " is missing", null);
        }
        return value;
    }

    int timeoutMs() throws Failure {
        String seconds = option("--timeout", "30");
        try {
            return Math.multiplyExact(Integer.parseInt(seconds), 1000);
        } catch (NumberFormatException none) {
            throw Failure.usage("--timeout needs a number of seconds", null);
        } catch (ArithmeticException tooLong) {
            throw Failure.usage("--timeout is too long", null);
        }
    }
}
