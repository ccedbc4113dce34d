//! Finds many patterns in one pass (Aho and Corasick, 1975), and tracks how much of the text may still become a match.
//!
//! The crate `aho-corasick` does not tell the latter, and lists in each state every pattern that ends there: secrets that are
//! suffixes of each other would take a thousand times their memory. This one keeps the longest.

/// The initial state.
pub(super) const ROOT: u32 = 0;

#[derive(Default)]
struct Node {
    /// Sorted by byte.
    edges: Vec<(u8, u32)>,
    /// The state to continue from if no edge matches: the longest proper suffix that is a prefix of a pattern.
    fallback: u32,
    /// Length of the text that the state represents.
    depth: u32,
    /// Length of the longest pattern that ends here.
    matched: u32,
}

/// The patterns. Add them all, link once, then step through the text.
pub(super) struct Automaton {
    nodes: Vec<Node>,
    /// The edges of the root, one for each byte; most bytes of a log take one of these.
    first: Box<[u32; 256]>,
}

impl Automaton {
    pub(super) fn new() -> Automaton {
        Automaton {
            nodes: vec![Node::default()],
            first: Box::new([ROOT; 256]),
        }
    }

    /// Adds a nonempty pattern.
    pub(super) fn add(&mut self, pattern: &[u8]) {
        let mut state = ROOT;
        for byte in pattern {
            state = match self.edge(state, *byte) {
                Ok(next) => next,
                Err(place) => {
                    let (depth, next) = (self.nodes[state as usize].depth + 1, self.nodes.len() as u32);
                    self.nodes.push(Node {
                        depth,
                        ..Node::default()
                    });
                    self.nodes[state as usize].edges.insert(place, (*byte, next));
                    next
                }
            };
        }
        let node = &mut self.nodes[state as usize];
        node.matched = node.depth;
    }

    /// Computes the fallbacks, level by level.
    pub(super) fn link(&mut self) {
        let mut level: Vec<u32> = Vec::new();
        for (byte, child) in self.nodes[ROOT as usize].edges.clone() {
            self.first[byte as usize] = child;
            level.push(child);
        }
        while !level.is_empty() {
            let mut next_level = Vec::new();
            for parent in level {
                for (byte, child) in self.nodes[parent as usize].edges.clone() {
                    let fallback = self.next(self.nodes[parent as usize].fallback, byte);
                    let inherited = self.nodes[fallback as usize].matched;
                    let node = &mut self.nodes[child as usize];
                    node.fallback = fallback;
                    node.matched = node.matched.max(inherited);
                    next_level.push(child);
                }
            }
            level = next_level;
        }
    }

    /// The state after one more byte.
    pub(super) fn next(&self, mut state: u32, byte: u8) -> u32 {
        while state != ROOT {
            if let Ok(next) = self.edge(state, byte) {
                return next;
            }
            state = self.nodes[state as usize].fallback;
        }
        self.first[byte as usize]
    }

    /// How many of the last bytes may still become a match.
    pub(super) fn depth(&self, state: u32) -> usize {
        self.nodes[state as usize].depth as usize
    }

    /// The length of the longest pattern that ends here.
    pub(super) fn longest_match(&self, state: u32) -> usize {
        self.nodes[state as usize].matched as usize
    }

    /// How many bytes at the start begin no pattern.
    pub(super) fn plain_prefix(&self, bytes: &[u8]) -> usize {
        let begins = |byte: &u8| self.first[*byte as usize] != ROOT;
        bytes.iter().position(begins).unwrap_or(bytes.len())
    }

    fn edge(&self, state: u32, byte: u8) -> Result<u32, usize> {
        let edges = &self.nodes[state as usize].edges;
        edges
            .binary_search_by_key(&byte, |(edge, _)| *edge)
            .map(|place| edges[place].1)
    }
}
