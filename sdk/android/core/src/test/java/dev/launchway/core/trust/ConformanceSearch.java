/** Looks for a target through delegations: depth first, in the order of the delegations, each role once (section 5.6.7). */
package dev.launchway.core.trust;

import dev.launchway.core.json.JsonException;
import dev.launchway.core.json.JsonReader;
import dev.launchway.core.json.JsonValue;
import dev.launchway.core.text.Utf8;
import dev.launchway.core.trust.metadata.Delegation;
import dev.launchway.core.trust.metadata.Metadata;
import dev.launchway.core.trust.metadata.Targets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

final class ConformanceSearch {
    /** At most this many roles are asked. */
    private static final int MAX_ROLES = 256;

    /** A role that is still to be asked. */
    private static final class Waiting {
        final String role;
        /** Null for the first one. */
        final Delegation delegation;

        Waiting(String role, Delegation delegation) {
            this.role = role;
            this.delegation = delegation;
        }
    }

    private final ConformanceSession session;

    ConformanceSearch(ConformanceSession session) {
        this.session = session;
    }

    /** The target of this name, by the first role that has it; null if none has. */
    ConformanceTarget find(String name) throws Exception {
        Deque<Waiting> waiting = new ArrayDeque<Waiting>();
        waiting.push(new Waiting("targets", null));
        Set<String> visited = new HashSet<String>();
        while (!waiting.isEmpty()) {
            Waiting next = waiting.pop();
            if (visited.size() == MAX_ROLES || !visited.add(next.role)) {
                continue;
            }
            if (next.delegation != null) {
                session.load(next.delegation);
            }
            Metadata<Targets> file = session.role(next.role);
            JsonValue signed = signed(file);
            JsonValue target = signed.get("targets").get(name);
            if (target != null) {
                return new ConformanceTarget(name, target);
            }
            List<Waiting> delegated = new ArrayList<Waiting>();
            if (delegatesTo(file, signed, name, delegated)) {
                waiting.clear();
            }
            Collections.reverse(delegated);
            for (Waiting role : delegated) {
                waiting.push(role);
            }
        }
        return null;
    }

    private static JsonValue signed(Metadata<Targets> file) throws JsonException {
        return JsonReader.read(Utf8.encode(file.text), Targets.TYPE.limit).get("signed");
    }

    /** Collects the roles that sign for a path, in their order. Returns whether the search ends with the last of them. */
    private static boolean delegatesTo(Metadata<Targets> file, JsonValue signed, String name, List<Waiting> delegated) {
        JsonValue delegations = signed.get("delegations");
        if (delegations == null || delegations.get("roles") == null) {
            return false;
        }
        for (JsonValue role : delegations.get("roles").asArray()) {
            Delegation delegation = file.body.delegation(role.get("name").asText());
            if (!signsFor(delegation, name)) {
                continue;
            }
            delegated.add(new Waiting(delegation.name, delegation));
            if (Boolean.TRUE.equals(role.get("terminating").asBoolean())) {
                return true;
            }
        }
        return false;
    }

    private static boolean signsFor(Delegation delegation, String name) {
        String[] parts = name.split("/", -1);
        for (String pattern : delegation.paths) {
            String[] patterns = pattern.split("/", -1);
            boolean fits = patterns.length == parts.length;
            for (int at = 0; fits && at < parts.length; at++) {
                fits = fits(patterns[at], parts[at]);
            }
            if (fits) {
                return true;
            }
        }
        return false;
    }

    /** Whether a part of a path fits a pattern of `*` and `?`: going back to the last star suffices. */
    private static boolean fits(String pattern, String part) {
        int at = 0;
        int star = -1;
        int starPosition = 0;
        for (int position = 0; position < part.length(); ) {
            char next = at < pattern.length() ? pattern.charAt(at) : 0;
            if (next == '*') {
                star = at++;
                starPosition = position;
            } else if (at < pattern.length() && (next == '?' || next == part.charAt(position))) {
                at++;
                position++;
            } else if (star >= 0) {
                at = star + 1;
                position = ++starPosition;
            } else {
                return false;
            }
        }
        return pattern.substring(at).replace("*", "").isEmpty();
    }
}
