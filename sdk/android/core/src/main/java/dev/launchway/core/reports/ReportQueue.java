/**
 * Reports that wait for the server (`docs/reference/sdk.md#reports`): one JSON object a line in `events.jsonl`. Threads take
 * turns with the file of a storage.
 */
package dev.launchway.core.reports;

import dev.launchway.core.json.FormException;
import dev.launchway.core.json.JsonReader;
import dev.launchway.core.json.JsonWriter;
import dev.launchway.core.storage.Storage;
import dev.launchway.core.storage.UnsuitableFileException;
import dev.launchway.core.storage.WholeFiles;
import dev.launchway.core.text.Utf8;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

public final class ReportQueue {
    /** The most reports that wait. The oldest leave first. */
    static final int MAX_REPORTS = 200;

    private static final String FILE = "events.jsonl";
    /** The most bytes of a line: the longest stack, escaped. */
    private static final int MAX_LINE = 64 << 10;
    private static final int MAX_FILE = MAX_REPORTS * MAX_LINE;

    private final Storage storage;

    public ReportQueue(Storage storage) {
        this.storage = storage;
    }

    /** The reports that wait, oldest first. Lines that are damaged are left out. */
    public List<Report> waiting() throws IOException {
        byte[] bytes;
        try {
            synchronized (storage) {
                bytes = WholeFiles.read(storage, FILE, MAX_FILE);
            }
        } catch (UnsuitableFileException damaged) {
            bytes = null;
        }
        List<Report> reports = new ArrayList<Report>();
        int start = 0;
        for (int at = 0; bytes != null && at <= bytes.length && reports.size() < MAX_REPORTS; at++) {
            if (at == bytes.length || bytes[at] == '\n') {
                addLine(bytes, start, at, reports);
                start = at + 1;
            }
        }
        return reports;
    }

    private static void addLine(byte[] bytes, int start, int end, List<Report> reports) {
        if (start == end) {
            return;
        }
        try {
            reports.add(Report.fromJson(JsonReader.read(Arrays.copyOfRange(bytes, start, end), MAX_LINE)));
        } catch (FormException damaged) {
            // The others count all the same.
            return;
        }
    }

    public void add(Report report) throws IOException {
        add(Collections.singletonList(report));
    }

    /** Adds reports. The server counts each update and type of a device once, and so does this. */
    public void add(List<Report> added) throws IOException {
        if (added.isEmpty()) {
            return;
        }
        synchronized (storage) {
            List<Report> all = waiting();
            for (Report report : added) {
                if (!isWaiting(report, all)) {
                    all.add(report);
                }
            }
            replace(all.subList(Math.max(0, all.size() - MAX_REPORTS), all.size()));
        }
    }

    private static boolean isWaiting(Report report, List<Report> all) {
        for (Report other : all) {
            if (report.isSameAs(other)) {
                return true;
            }
        }
        return false;
    }

    /** Removes reports. Others may have been added since these were read. */
    void remove(List<Report> removed) throws IOException {
        if (removed.isEmpty()) {
            return;
        }
        synchronized (storage) {
            List<Report> left = new ArrayList<Report>();
            for (Report report : waiting()) {
                if (!isWaiting(report, removed)) {
                    left.add(report);
                }
            }
            replace(left);
        }
    }

    /** Replaces everything that waits. */
    private void replace(List<Report> reports) throws IOException {
        StringBuilder lines = new StringBuilder();
        for (Report report : reports) {
            lines.append(JsonWriter.plain(report.toJson())).append('\n');
        }
        WholeFiles.replace(storage, FILE, Utf8.encode(lines.toString()));
    }
}
