//! The first phase of an attempt: the source comes into the workspace.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use launchway_api::runner::Source;
use launchway_domain::build::BuildErrorCode;

use super::{Attempt, Failure, SourceArchive, sentence};
use crate::effort::Effort;
use crate::environment;
use crate::executor::{StepCommand, StepEnd};
use crate::inside::Inside;
use crate::source::archive::{self, Bounds};
use crate::source::{self, SourceError, git};

const KEY_FILE: &str = "git-ssh-key";
const KNOWN_HOSTS_FILE: &str = "git-ssh-known-hosts";
const CONFIG_FILE: &str = "git-config";

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
        let unpacked = self.blocking(move |stopper| {
            archive::unpack((&packed, &name), (&beside, &to), bounds, stopper)?;
            if is_ours {
                fs::remove_file(&packed)?;
            }
            Ok(())
        });
        unpacked.await?.map_err(failed)
    }

    async fn fetch_git(&self, url: &str, reference: &str) -> Result<String, Failure> {
        let invalid = |message| Failure::Failed(BuildErrorCode::SourceInvalid, message);
        git::check_url(url, self.site.settings.allow_local_git)
            .and_then(|()| git::check_ref(reference))
            .map_err(invalid)?;
        let fetched = self.run_git(url, reference).await;
        // No step is to find them, however the fetch ended.
        let directory = Inside::open(&self.workspace.files()).map_err(Failure::internal)?;
        for file in [KEY_FILE, KNOWN_HOSTS_FILE, CONFIG_FILE] {
            directory.remove_file(Path::new(file)).map_err(Failure::internal)?;
        }
        let commit = fetched?;
        let commit = commit.ok_or_else(|| Failure::internal("git does not tell the commit."))?;
        let source = self.workspace.source();
        let entries = self.site.settings.limits.source_entries;
        let checked = self.blocking(move |stopper| source::check_links(&source, &mut Effort::new(stopper, entries)));
        checked.await?.map_err(failed)?;
        self.log.say(&format!("commit {commit}")).await;
        Ok(commit)
    }

    /// Fetches and checks out; gives the commit, if git tells it. Where it takes credentials to fetch, submodules and files of
    /// LFS come by them, too; else both are left to the steps.
    async fn run_git(&self, url: &str, reference: &str) -> Result<Option<String>, Failure> {
        let mut env = environment::base(
            &self.site.settings.path,
            &self.workspace,
            &self.site.mark(&self.record.key()),
        );
        let (token, key) = (self.leased(git::TOKEN), self.leased(git::SSH_KEY));
        let has_credentials = token.is_some() || key.is_some();
        let hosts = git::known_hosts(self.leased(git::SSH_KNOWN_HOSTS));
        let key = key.map(|key| self.write(KEY_FILE, key)).transpose()?;
        let files = git::Ssh {
            key: key.as_deref(),
            known_hosts: &self.write(KNOWN_HOSTS_FILE, &hosts)?,
        };
        self.hand_over().await?;
        let ask = |words| self.ask_command(StepCommand::Program(words), env.clone());
        let with_lfs = has_credentials && ask(git::lfs_command()).await?.is_some();
        let config = self.write(CONFIG_FILE, &git::config(url, token, with_lfs))?;
        self.hand_over().await?;
        env.extend(git::environment(&config, files, self.site.settings.allow_local_git));
        for words in git::commands(url, reference) {
            self.git(words, &env, || not_fetched(url, reference)).await?;
        }
        let modules = Inside::open(&self.workspace.source()).and_then(|source| source.kind(Path::new(".gitmodules")));
        if has_credentials && modules.map_err(Failure::internal)?.is_some() {
            let problem = || {
                "git cannot fetch the submodules. The log shows why: they are fetched with the credentials of the repository."
                    .to_owned()
            };
            self.git(git::submodules_command(), &env, problem).await?;
        }
        self.ask_command(StepCommand::Program(git::commit_command()), env).await
    }

    async fn git(
        &self,
        words: Vec<String>,
        env: &BTreeMap<String, String>,
        problem: impl FnOnce() -> String,
    ) -> Result<(), Failure> {
        match self.run_command(StepCommand::Program(words), env.clone(), None).await? {
            StepEnd::Exited(0) => Ok(()),
            _ => Err(Failure::Failed(BuildErrorCode::SourceInvalid, problem())),
        }
    }

    /// Gives what was written to the user of the build.
    async fn hand_over(&self) -> Result<(), Failure> {
        let workspace = Arc::clone(&self.workspace);
        let handed = self.blocking(move |stopper| workspace.hand_over(&mut Effort::new(stopper, u64::MAX)));
        handed.await?.map_err(Failure::internal)
    }

    /// The value of a variable of the organization.
    fn leased(&self, name: &str) -> Option<&str> {
        let found = self
            .lease
            .env
            .iter()
            .find(|variable| variable.name == name && variable.path.is_none());
        found.map(|variable| variable.value.reveal())
    }

    /// Writes a file of the fetch.
    fn write(&self, name: &str, text: &str) -> Result<PathBuf, Failure> {
        let written = Inside::open(&self.workspace.files()).and_then(|inside| {
            let mut file = inside.create(Path::new(name), 0o600)?;
            file.write_all(text.as_bytes())?;
            // `ssh` wants the line break that a form may have cut off.
            match text.ends_with('\n') {
                true => Ok(()),
                false => file.write_all(b"\n"),
            }
        });
        written.map_err(Failure::internal)?;
        Ok(self.workspace.files().join(name))
    }
}

fn not_fetched(url: &str, reference: &str) -> String {
    let (token, key, hosts) = (git::TOKEN, git::SSH_KEY, git::SSH_KNOWN_HOSTS);
    let known = match git::is_ssh(url) {
        true => format!(
            " If it says that the host key cannot be verified: compare the keys that ssh-keyscan prints for the host with those \
             that its owner publishes, and set them as the variable {hosts}."
        ),
        false => String::new(),
    };
    format!(
        "git cannot fetch '{reference}'. The log shows why: see that the address and the ref are right, and that {token} or {key} \
         is set if the repository is not public.{known}"
    )
}

fn failed(error: SourceError) -> Failure {
    let code = match error {
        SourceError::Entry { .. } | SourceError::Invalid(_) => BuildErrorCode::SourceInvalid,
        SourceError::Unavailable(_) | SourceError::Runner(_) => BuildErrorCode::Internal,
    };
    Failure::Failed(code, sentence(&error.to_string()))
}
