//! Two faults in one flow, at every pair of calls: it ends right, or with an error, and nothing happened twice.

use launchway_store_simulator::{Fault, Kind, When};

use crate::faults::{WAYS, Way, calls, walk};

/// One of each sort: no effect, effect without an answer, a wrong answer, what was made is gone.
fn kinds(way: Way) -> [Kind; 4] {
    let gone = match way {
        Way::GooglePlay => Kind::DeleteEdits,
        _ => Kind::ExpireParts,
    };
    [Kind::Status(500), Kind::Lost, Kind::Status(404), gone]
}

#[tokio::test]
async fn every_flow_survives_two_faults_at_any_two_calls() {
    for way in WAYS {
        let calls = calls(way).await;
        // Later calls are polls that are all the same.
        let calls = calls.min(45);
        for first in 0..calls {
            for second in first + 1..calls {
                // Each kind meets each other one as the places go by.
                let (one, other) = (
                    kinds(way)[(first % 4) as usize],
                    kinds(way)[((first / 4 + second) % 4) as usize],
                );
                let faults = [(first, one), (second, other)].map(|(number, kind)| Fault {
                    when: When::Call(number),
                    kind,
                });
                let (stand, ended) = walk(way, &faults).await;
                assert_eq!(ended, Ok(()), "{way:?} {faults:?} of {:?}", stand.simulator.log());
            }
        }
    }
}
