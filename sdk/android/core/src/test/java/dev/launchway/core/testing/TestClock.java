/** A clock that tests set, and that notes how long it was asked to wait. */
package dev.launchway.core.testing;

import dev.launchway.core.device.Clock;
import java.util.ArrayList;
import java.util.List;

public final class TestClock implements Clock {
    public long now = 1_795_255_200_000L;
    public final List<Long> pauses = new ArrayList<Long>();

    @Override
    public long now() {
        return now;
    }

    @Override
    public void pause(long milliseconds) {
        pauses.add(milliseconds);
    }
}
