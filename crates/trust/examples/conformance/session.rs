//! One run: the workflow over the top-level roles, then over the roles that a target is looked for in.

use std::time::{SystemTime, UNIX_EPOCH};

use launchway_domain::percent;
use launchway_trust::metadata::{Body as _, Metadata, Targets};
use launchway_trust::workflow::{FileRequest, Workflow};
use launchway_trust::{RoleState, StoredFiles, TrustedMetadata};

use crate::Failure;
use crate::arguments::Arguments;
use crate::artifact;
use crate::http::get;
use crate::metadata_dir::MetadataDir;
use crate::search;

pub struct Session {
    trusted: TrustedMetadata,
    now: i64,
    metadata_url: String,
    files: MetadataDir,
}

impl Session {
    /// Opens what was trusted before.
    pub fn open(arguments: &Arguments) -> Result<Self, Failure> {
        let files = MetadataDir::new(&arguments.metadata_dir);
        let root = files.read("root")?.ok_or("there is no root: use init first")?;
        let mut trusted = TrustedMetadata::from_root(&root, None)?;
        let [timestamp, snapshot, targets] = ["timestamp", "snapshot", "targets"].map(|role| files.read(role));
        let (timestamp, snapshot, targets) = (timestamp?, snapshot?, targets?);
        trusted.restore(StoredFiles {
            timestamp: timestamp.as_deref(),
            snapshot: snapshot.as_deref(),
            targets: targets.as_deref(),
            roles: Vec::new(),
        });
        Ok(Self {
            trusted,
            now: clock()?,
            metadata_url: arguments.metadata_url.clone(),
            files,
        })
    }

    /// Runs the workflow, and keeps each file as soon as it is trusted.
    pub fn refresh(&mut self) -> Result<(), Failure> {
        let mut workflow = Workflow::new(self.now);
        while let Some(request) = workflow.next_request(&self.trusted)? {
            match get(&self.metadata_url, &request.to_string(), request.limit())? {
                None => workflow.report_missing(&mut self.trusted)?,
                Some(bytes) => {
                    if workflow.take(&mut self.trusted, &bytes)? {
                        self.files.write(request.role(), &bytes)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Fetches a target, unless the file is there already.
    pub fn download(&mut self, arguments: &Arguments, name: &str) -> Result<(), Failure> {
        let target = search::find(self, name)?.ok_or_else(|| format!("no role has the target {name}"))?;
        artifact::download(arguments, name, &target)
    }

    /// The trusted file of targets or of a delegated role.
    pub fn role(&self, name: &str) -> Option<&Metadata<Targets>> {
        if name == "targets" {
            self.trusted.targets()
        } else {
            self.trusted.role(name)
        }
    }

    /// Makes sure that the file of a role is current and signed by the keys that `delegator` names.
    pub fn load(&mut self, delegator: &Metadata<Targets>, name: &str) -> Result<(), Failure> {
        // A stored file is taken as if it had just come, so it is held against this delegator too.
        let state = self.trusted.role_state(delegator, name, self.now)?;
        if let (RoleState::Fetch { .. }, Some(stored)) = (&state, self.files.read(name)?)
            && self.trusted.update_role(delegator, name, &stored, self.now).is_ok()
        {
            return Ok(());
        }
        if let RoleState::Fetch { version } = state {
            let file = FileRequest::Role {
                name: percent::encode(name).to_string(),
                version,
            };
            let bytes = get(&self.metadata_url, &file.to_string(), Targets::LIMIT)?;
            let bytes = bytes.ok_or_else(|| format!("{file} is missing"))?;
            self.trusted.update_role(delegator, name, &bytes, self.now)?;
            self.files.write(name, &bytes)?;
        }
        Ok(())
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a program of its own, whose clock the suite changes"
)]
fn clock() -> Result<i64, Failure> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH)?;
    Ok(i64::try_from(since.as_millis())?)
}
