/**
 * Runs every public method of every class whose name ends in `Test`, and prints a summary. Arguments: the folder with the
 * classes, and words that the name of a test must contain to be run.
 */
package dev.launchway.core.testing;

import java.io.File;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

public final class TestRunner {
    private final List<String> wanted;
    private int passed;
    private int failed;

    private TestRunner(List<String> wanted) {
        this.wanted = wanted;
    }

    public static void main(String[] arguments) throws Exception {
        List<String> names = new ArrayList<String>();
        collect(new File(arguments[0]), "", names);
        Collections.sort(names);
        List<String> wanted = new ArrayList<String>();
        for (int at = 1; at < arguments.length; at++) {
            wanted.add(arguments[at]);
        }
        TestRunner runner = new TestRunner(wanted);
        for (String name : names) {
            runner.run(Class.forName(name));
        }
        System.out.println(runner.passed + " tests passed, " + runner.failed + " failed");
        if (runner.failed > 0 || runner.passed == 0) {
            System.exit(1);
        }
    }

    private static void collect(File folder, String prefix, List<String> names) {
        for (File file : folder.listFiles()) {
            if (file.isDirectory()) {
                collect(file, prefix + file.getName() + ".", names);
            } else if (file.getName().endsWith("Test.class") && !file.getName().contains("$")) {
                names.add(prefix + file.getName().replace(".class", ""));
            }
        }
    }

    private void run(Class<?> type) throws Exception {
        List<String> names = new ArrayList<String>();
        for (Method method : type.getDeclaredMethods()) {
            if (Modifier.isPublic(method.getModifiers()) && method.getParameterTypes().length == 0) {
                names.add(method.getName());
            }
        }
        // The order in which methods are found varies.
        Collections.sort(names);
        for (String name : names) {
            if (isWanted(type.getSimpleName() + "." + name)) {
                run(type, type.getMethod(name));
            }
        }
    }

    private boolean isWanted(String name) {
        for (String word : wanted) {
            if (!name.contains(word)) {
                return false;
            }
        }
        return true;
    }

    private void run(Class<?> type, Method test) throws Exception {
        try {
            test.invoke(type.getConstructor().newInstance());
            passed++;
        } catch (InvocationTargetException failure) {
            failed++;
            System.out.println("FAILED " + type.getSimpleName() + "." + test.getName());
            failure.getCause().printStackTrace(System.out);
        }
    }
}
