/** For tests: the names of the preference in the class of the same name in Capacitor. */
package com.getcapacitor.plugin;

public final class WebView {
    public static final String WEBVIEW_PREFS_NAME = "CapWebViewSettings";
    public static final String CAP_SERVER_PATH = "serverBasePath";

    private WebView() {}
}
