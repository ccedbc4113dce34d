//! A phone, its server and its developers, moved step by step.

use std::cell::{Cell, RefCell};

use launchway_device::boot::Content;
use launchway_device::ports::{Clock, Network};
use launchway_device::settings::Settings;
use launchway_device::trust::TrustError;
use launchway_device::{SyncError, SyncOutcome};
use launchway_domain::time::{EpochMs, HOUR};

use crate::disk::Disk;
use crate::lives::start;
use crate::metadata::{Developers, MetadataFiles};
use crate::phone::{Server, StoppedClock, Update, process_of};

/// The most updates of a trace.
pub const UPDATES: u32 = 3;

/// Something that happens.
#[derive(Clone, Debug)]
pub enum Step {
    /// The developers sign an update.
    Sign(u32),
    /// They revoke it.
    Revoke(u32),
    /// The server renews snapshot and timestamp.
    Renew,
    /// It gets a new key, and the developers sign a root that names it.
    ReplaceKey,
    /// From now on it serves metadata that is so many changes old.
    Lag(usize),
    /// From now on it offers this update to phones that run an older one.
    Offer(Option<u32>),
    /// So many hours pass.
    Pass(u32),
    /// The phone does a round with the server.
    Sync,
    /// The app starts and confirms.
    Start,
}

/// A clock that notes pauses.
pub struct Timer {
    pub now: Cell<u64>,
    pub pauses: RefCell<Vec<u64>>,
}

impl Clock for Timer {
    fn now(&self) -> u64 {
        self.now.get()
    }

    fn pause(&self, milliseconds: u64) {
        self.pauses.borrow_mut().push(milliseconds);
    }
}

/// A phone with an app that has started once, and the rest of its world.
pub struct World {
    pub app: Settings,
    pub server: Server,
    pub disk: Disk,
    pub timer: Timer,
    developers: Developers,
    /// All metadata that the server ever had, newest last.
    generations: Vec<MetadataFiles>,
    lag: usize,
}

impl World {
    /// Nothing is signed but the roles.
    pub fn new() -> Self {
        let mut developers = Developers::with_updates(&[]);
        let timer = Timer {
            now: Cell::new(StoppedClock.now()),
            pauses: RefCell::default(),
        };
        developers.repository.now = epoch(&timer);
        developers.repository.publish();
        let (app, server, disk) = (developers.app(), Server::default(), Disk::new());
        process_of(&app, &timer, &disk, &server, start);
        let mut world = Self {
            app,
            server,
            disk,
            timer,
            developers,
            generations: Vec::new(),
            lag: 0,
        };
        world.upload();
        world
    }

    /// Performs a step with the phone on the server. A round and a start have an outcome.
    pub fn perform(&mut self, step: &Step) -> Option<String> {
        match step {
            Step::Sync => Some(self.sync(&self.server)),
            Step::Start => Some(format!("runs {}", name(self.start()))),
            step => {
                self.change(step);
                None
            }
        }
    }

    /// Performs a step that does not involve the phone.
    pub fn change(&mut self, step: &Step) {
        self.developers.repository.now = epoch(&self.timer);
        match step {
            Step::Sign(number) => self.developers.sign(&Update::number(*number)),
            Step::Revoke(number) => self.developers.revoke(*number),
            Step::Renew => self.developers.repository.publish(),
            Step::ReplaceKey => {
                self.developers.repository.replace_online_key();
                self.developers.repository.publish();
            }
            Step::Lag(lag) => self.lag = *lag,
            Step::Offer(number) => {
                self.server.offer.replace(number.map(Update::number));
            }
            Step::Pass(hours) => {
                let passed = u64::from(*hours) * HOUR.unsigned_abs();
                self.timer.now.set(self.timer.now.get() + passed);
            }
            Step::Sync | Step::Start => {}
        }
        self.upload();
    }

    fn upload(&mut self) {
        let files = &self.developers.repository.files;
        if self.generations.last().is_none_or(|last| last.files != *files) {
            self.generations.push(MetadataFiles {
                files: files.clone(),
                trouble: None,
            });
        }
        let served = (self.generations.len() - 1).saturating_sub(self.lag);
        self.server.metadata.replace(Some(self.generations[served].clone()));
    }

    /// A round of the phone over this network.
    pub fn sync(&self, network: &dyn Network) -> String {
        let synced = process_of(&self.app, &self.timer, &self.disk, network, |device| {
            device.sync(&mut |_| ())
        });
        describe(synced, &self.timer.pauses.take())
    }

    /// A start of the app, which confirms.
    pub fn start(&self) -> Content {
        process_of(&self.app, &self.timer, &self.disk, &self.server, |device| {
            let started = start(device);
            device.confirm().unwrap();
            started.content
        })
    }
}

fn epoch(timer: &Timer) -> EpochMs {
    timer.now.get().try_into().unwrap()
}

/// The outcome of a round, as traces name it.
pub fn describe(synced: Result<SyncOutcome, SyncError>, pauses: &[u64]) -> String {
    let outcome = match synced {
        Ok(SyncOutcome::Nothing) => "nothing".to_owned(),
        Ok(SyncOutcome::Staged(offer)) => format!("staged {}", offer.id),
        Err(SyncError::Unverified(TrustError::Offer(error))) => format!("refused {}", error.code()),
        Err(SyncError::Unverified(TrustError::Metadata(error))) => {
            format!("refused {} {}", error.role, error.reason.code())
        }
        other => format!("{other:?}"),
    };
    match pauses {
        [] => outcome,
        [3_000] => format!("{outcome} after a pause"),
        other => format!("{outcome} after {other:?}"),
    }
}

/// `embedded`, or the id of the update.
pub fn name(content: Content) -> String {
    let Content::Slot(id) = content else {
        return "embedded".to_owned();
    };
    let number = (1..=UPDATES).find(|number| Update::number(*number).sha256() == id);
    Update::number(number.unwrap()).id
}

/// Random steps. Roles of developers do not expire meanwhile.
pub fn random(seed: u64, length: usize) -> Vec<Step> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut below = move |bound: u32| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        u32::try_from((state >> 33) % u64::from(bound)).unwrap()
    };
    let mut steps = vec![Step::Sign(1), Step::Offer(Some(1)), Step::Sync, Step::Start];
    while steps.len() < length {
        let number = 1 + below(UPDATES);
        match below(20) {
            0..3 => steps.push(Step::Sign(number)),
            3 => steps.push(Step::Revoke(number)),
            4..6 => steps.push(Step::Renew),
            // A day later, a node still has the metadata of the key before.
            6 => steps.extend([
                Step::ReplaceKey,
                Step::Sync,
                Step::Lag(below(2) as usize),
                Step::Pass(24),
                Step::Sync,
            ]),
            7 => steps.push(Step::Lag([0, 0, 1, 2][below(4) as usize])),
            // A node that offers an update does not have its metadata yet.
            8 => steps.extend([
                Step::Sign(number),
                Step::Sync,
                Step::Lag(1),
                Step::Offer(Some(UPDATES)),
                Step::Sync,
            ]),
            9 | 10 => steps.push(Step::Offer((below(4) > 0).then_some(number))),
            11..14 => steps.push(Step::Pass([1, 24, 100, 170][below(4) as usize])),
            14..18 => steps.push(Step::Sync),
            _ => steps.push(Step::Start),
        }
    }
    steps
}
