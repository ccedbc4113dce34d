/** For tests: keeps the events for the script. */
package com.facebook.react.bridge;

import android.content.Context;
import java.util.ArrayList;
import java.util.List;

public class ReactApplicationContext extends Context {
    public final List<String> events = new ArrayList<>();
    public boolean isActive = true;

    public boolean hasActiveReactInstance() {
        return isActive;
    }

    public void emitDeviceEvent(String name, Object payload) {
        events.add(name + " " + payload);
    }
}
