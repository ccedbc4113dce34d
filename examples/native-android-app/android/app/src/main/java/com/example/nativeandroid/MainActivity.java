package com.example.nativeandroid;

import android.app.Activity;
import android.net.Uri;
import android.os.Bundle;
import android.webkit.WebView;
import android.widget.LinearLayout;
import android.widget.TextView;
import dev.launchway.Launchway;
import dev.launchway.core.session.Callback;
import dev.launchway.core.session.ErrorCode;
import dev.launchway.core.session.Event;
import dev.launchway.core.session.RoundResult;
import dev.launchway.core.session.SessionListener;
import java.io.File;

/** The only screen: the pages that the SDK chose, and below them what the SDK does. */
public final class MainActivity extends Activity {
    private final SessionListener listener = event -> {
        if (event.type != Event.Type.DOWNLOAD_PROGRESS) {
            show(describe(event));
        }
    };
    private TextView events;

    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        WebView pages = new WebView(this);
        // Updates are files, which web views load only if the app allows it.
        pages.getSettings().setAllowFileAccess(true);
        pages.getSettings().setJavaScriptEnabled(true);
        events = new TextView(this);
        LinearLayout screen = new LinearLayout(this);
        screen.setOrientation(LinearLayout.VERTICAL);
        screen.setFitsSystemWindows(true);
        screen.addView(pages, new LinearLayout.LayoutParams(LinearLayout.LayoutParams.MATCH_PARENT, 0, 1));
        screen.addView(events);
        setContentView(screen);

        // The provider of the SDK has started it.
        Launchway launchway = Launchway.get();
        pages.loadUrl(firstPage(launchway.currentPath()));
        launchway.addListener(listener);
        launchway.calls().sync(new Callback<RoundResult>() {
            @Override
            public void onResult(RoundResult result) {
                show("sync: " + result.status.code());
            }

            @Override
            public void onError(ErrorCode code, String message) {
                show("sync: " + code.code() + ", " + message);
            }
        });
    }

    @Override
    protected void onDestroy() {
        Launchway.get().removeListener(listener);
        super.onDestroy();
    }

    /** {@code folder} is that of the update; null means the pages of the binary. */
    private static String firstPage(File folder) {
        if (folder == null) {
            return "file:///android_asset/index.html";
        }
        return Uri.fromFile(new File(folder, "index.html")).toString();
    }

    private static String describe(Event event) {
        String name = event.update == null ? "" : " " + event.update.version;
        String reason = event.reason == null ? "" : ", " + event.reason;
        return event.type.code() + name + reason;
    }

    private void show(String line) {
        events.append(line + "\n");
    }
}
