/** For tests: the part of the class of the same name in Capacitor that the plugin uses. It keeps its answers. */
package com.getcapacitor;

import java.util.ArrayList;
import java.util.List;

public class PluginCall {
    private final JSObject data;
    public final List<String> answers = new ArrayList<>();

    public PluginCall(JSObject data) {
        this.data = data;
    }

    public String getString(String name, String otherwise) {
        return data.texts.getOrDefault(name, otherwise);
    }

    public void resolve(JSObject result) {
        answers.add("resolved " + result.texts);
    }

    public void resolve() {
        answers.add("resolved");
    }

    public void reject(String message, String code) {
        answers.add("rejected " + code + ": " + message);
    }
}
