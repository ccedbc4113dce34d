package com.example.sample;

import android.app.Activity;
import android.content.pm.PackageInfo;
import android.content.pm.PackageManager;
import android.os.Bundle;
import android.widget.TextView;

/** The only screen: says which version of the app this is. */
public final class MainActivity extends Activity {
    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        setContentView(R.layout.main);
        TextView version = (TextView) findViewById(R.id.version);
        try {
            PackageInfo self = getPackageManager().getPackageInfo(getPackageName(), 0);
            version.setText(getString(R.string.version, self.versionName, self.versionCode));
        } catch (PackageManager.NameNotFoundException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
