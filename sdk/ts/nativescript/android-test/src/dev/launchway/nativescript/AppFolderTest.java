/** How an update takes the place of the app folder, and comes away again. */
package dev.launchway.nativescript;

import dev.launchway.core.boot.Content;
import dev.launchway.core.storage.WholeFiles;
import dev.launchway.core.testing.Check;
import java.io.IOException;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

public final class AppFolderTest {
    private static final Content[] CONTENTS = {Content.EMBEDDED, RuntimePhone.FIRST, RuntimePhone.SECOND};
    private static final String WORK = RuntimePhone.CLIENT + "/nativescript";

    public void each_content_takes_the_place_of_each() throws IOException {
        for (Content from : CONTENTS) {
            for (Content to : CONTENTS) {
                RuntimePhone phone = new RuntimePhone();
                start(phone, from);
                start(phone, to);
                start(phone, to);
            }
        }
    }

    private static void start(RuntimePhone phone, Content wanted) throws IOException {
        Check.equal(wanted, phone.place(wanted), "announced");
        Check.equal(wanted, phone.run(phone.storage), "running");
        Check.equal(Collections.<String, String>emptyMap(), phone.read(WORK), "what is left");
        for (Content update : new Content[] {RuntimePhone.FIRST, RuntimePhone.SECOND}) {
            String slot = RuntimePhone.CLIENT + "/slots/" + update.slot() + "/app";
            Check.equal(RuntimePhone.files(update), phone.read(slot), "the installed update");
        }
    }

    public void an_update_in_place_is_not_copied_again() throws IOException {
        RuntimePhone phone = new RuntimePhone();
        start(phone, RuntimePhone.FIRST);
        WholeFiles.removeTree(phone.storage, RuntimePhone.CLIENT + "/slots");
        Check.equal(RuntimePhone.FIRST, phone.place(RuntimePhone.FIRST));
        Check.equal(RuntimePhone.FIRST, phone.run(phone.storage));
    }

    public void an_extraction_ahead_runs_the_binary() throws IOException {
        RuntimePhone phone = new RuntimePhone();
        start(phone, RuntimePhone.FIRST);
        for (String note : new String[] {null, "", "1700000000000-8", phone.stamp + "0"}) {
            phone.storage.removeFile(RuntimePhone.STAMP_FILE);
            if (note != null) {
                Map<String, String> file = new TreeMap<String, String>();
                file.put("assetsThumb", note + "\n");
                RuntimePhone.write(phone.storage, "no_backup", file);
            }
            for (Content wanted : CONTENTS) {
                Check.equal(Content.EMBEDDED, phone.place(wanted), "with the note " + note);
            }
            Check.equal(Content.EMBEDDED, phone.run(phone.storage), "with the note " + note);
            start(phone, RuntimePhone.FIRST);
        }
    }

    public void a_new_binary_runs_its_own_content_first() throws IOException {
        RuntimePhone phone = new RuntimePhone();
        start(phone, RuntimePhone.FIRST);
        phone.stamp = "1800000000000-8";
        Check.equal(Content.EMBEDDED, phone.place(Content.EMBEDDED));
        Check.equal(Content.EMBEDDED, phone.run(phone.storage));
        start(phone, RuntimePhone.SECOND);
    }

    public void a_mark_in_the_package_says_nothing() throws IOException {
        RuntimePhone phone = new RuntimePhone();
        Map<String, String> mark = new TreeMap<String, String>();
        mark.put(AppFolder.MARK, RuntimePhone.SECOND.toString());
        String slot = RuntimePhone.CLIENT + "/slots/" + RuntimePhone.FIRST.slot() + "/app";
        RuntimePhone.write(phone.storage, slot, mark);
        Check.equal(RuntimePhone.FIRST, phone.place(RuntimePhone.FIRST));
        Check.equal(RuntimePhone.FIRST.toString(), phone.read(RuntimePhone.APP).get(AppFolder.MARK));
    }

    public void a_copy_without_its_mark_is_made_again() throws IOException {
        RuntimePhone phone = new RuntimePhone();
        Map<String, String> torn = new TreeMap<String, String>();
        torn.put("bundle.js", "run(");
        torn.put("stray.js", "");
        RuntimePhone.write(phone.storage, WORK + "/fresh", torn);
        start(phone, RuntimePhone.FIRST);
    }

    public void an_update_that_is_gone_changes_nothing() throws IOException {
        RuntimePhone phone = new RuntimePhone();
        start(phone, RuntimePhone.FIRST);
        WholeFiles.removeTree(phone.storage, RuntimePhone.CLIENT + "/slots/" + RuntimePhone.SECOND.slot() + "/app");
        Map<String, String> file = new TreeMap<String, String>();
        file.put("app", "not a folder");
        RuntimePhone.write(phone.storage, RuntimePhone.CLIENT + "/slots/" + RuntimePhone.SECOND.slot(), file);
        Check.equal(RuntimePhone.FIRST, phone.place(RuntimePhone.SECOND));
        Check.equal(RuntimePhone.FIRST, phone.run(phone.storage));
    }

    public void a_missing_app_folder_is_extracted_again() throws IOException {
        RuntimePhone phone = new RuntimePhone();
        WholeFiles.removeTree(phone.storage, RuntimePhone.APP);
        Check.equal(Content.EMBEDDED, phone.place(RuntimePhone.FIRST));
        Check.equal(Content.EMBEDDED, phone.run(phone.storage));
        start(phone, RuntimePhone.FIRST);
    }
}
