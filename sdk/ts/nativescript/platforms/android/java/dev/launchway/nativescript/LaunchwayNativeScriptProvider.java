/**
 * Starts the client and puts the content that it chose in place, before the app's own code: the runtime starts in
 * {@code Application.onCreate}, and content providers come before that.
 */
package dev.launchway.nativescript;

import android.content.ContentProvider;
import android.content.ContentValues;
import android.content.Context;
import android.database.Cursor;
import android.net.Uri;
import dev.launchway.Launchway;

public final class LaunchwayNativeScriptProvider extends ContentProvider {
    @Override
    public boolean onCreate() {
        Context context = getContext();
        Launchway launchway = Launchway.start(context);
        if (!new RuntimeContent(context).prepare(launchway.currentContent())) {
            launchway.showsOtherContent();
        }
        return true;
    }

    // It provides nothing.

    @Override
    public Cursor query(Uri uri, String[] columns, String selection, String[] arguments, String order) {
        return null;
    }

    @Override
    public String getType(Uri uri) {
        return null;
    }

    @Override
    public Uri insert(Uri uri, ContentValues values) {
        return null;
    }

    @Override
    public int delete(Uri uri, String selection, String[] arguments) {
        return 0;
    }

    @Override
    public int update(Uri uri, ContentValues values, String selection, String[] arguments) {
        return 0;
    }
}
