/** A clock that tests set, and that notes how long it was asked to wait. */
package dev.launchway.core.device;

import java.util.ArrayList;
import java.util.List;

final class TestClock implements Clock {
    long now = 1_795_255_200_000L;
    final List<Long> pauses = new ArrayList<Long>();

    @Override
    public long now() {
        return now;
    }

    @Override
    public void pause(long milliseconds) {
        pauses.add(milliseconds);
    }
}
