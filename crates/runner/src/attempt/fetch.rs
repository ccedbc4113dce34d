//! The first phase of an attempt: the source comes into the workspace.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use launchway_api::runner::Source;
use launchway_domain::build::BuildErrorCode;
use tokio::task::spawn_blocking;

use super::{Attempt, Failure, SourceArchive, sentence};
use crate::environment;
use crate::executor::{StepCommand, StepEnd};
use crate::inside::Inside;
use crate::source::archive::{self, Bounds};
use crate::source::{self, SourceError, git};

impl Attempt {
    /// Gets the source; gives the commit, where there is one.
    pub(super) async fn fetch(&self) -> Result<Option<String>, Failure> {
        match &self.lease.source {
            Source::Archive {
                url,
                file_name,
                size,
                sha256,
            } => {
                self.fetch_archive(url, file_name, *size, sha256).await?;
                Ok(None)
            }
            Source::Git { url, reference } => self.fetch_git(url, reference).await.map(Some),
        }
    }

    async fn fetch_archive(&self, url: &str, name: &str, size: u64, sha256: &str) -> Result<(), Failure> {
        let (packed, is_ours) = match &self.archive {
            SourceArchive::Storage(storage) => {
                let packed = self.workspace.root.join("source.packed");
                let download = source::download(storage, self.site.world.as_ref(), url, &packed, size, sha256);
                self.stopper.unless_stopped(download).await?.map_err(failed)?;
                (packed, true)
            }
            SourceArchive::Here(file) => (file.clone(), false),
        };
        let (name, beside, to) = (
            name.to_owned(),
            self.workspace.root.join("unpacked"),
            self.workspace.source(),
        );
        let limits = &self.site.settings.limits;
        let bounds = Bounds {
            bytes: limits.source_bytes,
            entries: limits.source_entries,
        };
        let unpacked = spawn_blocking(move || {
            archive::unpack(&packed, &name, &beside, &to, bounds)?;
            if is_ours {
                fs::remove_file(&packed)?;
            }
            Ok(())
        });
        unpacked.await.map_err(Failure::internal)?.map_err(failed)
    }

    async fn fetch_git(&self, url: &str, reference: &str) -> Result<String, Failure> {
        let invalid = |message| Failure::Failed(BuildErrorCode::SourceInvalid, message);
        let local = self.site.settings.allow_local_git;
        git::check_url(url, local)
            .and_then(|()| git::check_ref(reference))
            .map_err(invalid)?;
        let value = |name: &str| {
            let found = self
                .lease
                .env
                .iter()
                .find(|variable| variable.name == name && variable.path.is_none());
            found.map(|variable| variable.value.reveal())
        };
        let key_file = value(git::SSH_KEY).map(|key| self.write_key(key)).transpose()?;
        let mut env = environment::base(
            &self.site.settings.path,
            &self.workspace,
            &self.site.mark(&self.record.key()),
        );
        env.extend(git::environment(url, value(git::TOKEN), key_file.as_deref(), local));
        self.workspace.hand_over().map_err(Failure::internal)?;
        for words in git::commands(url, reference) {
            let end = self.run_command(StepCommand::Program(words), env.clone(), None).await?;
            if end != StepEnd::Exited(0) {
                let message = format!(
                    "git cannot fetch '{reference}'. The log shows why: see that the address and the ref are right, and that \
                     {} or {} is set if the repository is not public.",
                    git::TOKEN,
                    git::SSH_KEY
                );
                return Err(invalid(message));
            }
        }
        let commit = self
            .ask_command(StepCommand::Program(git::commit_command()), env)
            .await?;
        let commit = commit.ok_or_else(|| Failure::internal("git does not tell the commit."))?;
        let source = self.workspace.source();
        let checked = spawn_blocking(move || source::check_links(&source));
        checked.await.map_err(Failure::internal)?.map_err(failed)?;
        self.log.say(&format!("commit {commit}")).await;
        Ok(commit)
    }

    /// Puts the key where `ssh` finds it.
    fn write_key(&self, key: &str) -> Result<PathBuf, Failure> {
        let name = PathBuf::from("git-ssh-key");
        let written = Inside::open(&self.workspace.files()).and_then(|inside| {
            let mut file = inside.create(&name, 0o600)?;
            file.write_all(key.as_bytes())?;
            // `ssh` wants the line break that a form may have cut off.
            if key.ends_with('\n') {
                Ok(())
            } else {
                file.write_all(b"\n")
            }
        });
        written.map_err(Failure::internal)?;
        Ok(self.workspace.files().join(name))
    }
}

fn failed(error: SourceError) -> Failure {
    let code = match error {
        SourceError::Entry { .. } | SourceError::Invalid(_) => BuildErrorCode::SourceInvalid,
        SourceError::Unavailable(_) | SourceError::Runner(_) => BuildErrorCode::Internal,
    };
    Failure::Failed(code, sentence(&error.to_string()))
}
