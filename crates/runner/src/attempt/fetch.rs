//! The first phase of an attempt: fetches the source into the workspace.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use launchway_api::runner::Source;
use launchway_domain::build::BuildErrorCode;
use launchway_domain::build::git::Revision;

use super::foreign::invalid;
use super::{Attempt, AttemptError, SourceArchive, sentence};
use crate::effort::Effort;
use crate::environment;
use crate::executor::{StepCommand, StepEnd};
use crate::inside::Inside;
use crate::source::{self, SourceError, git};
use crate::source_tool::Task;

const KEY_FILE: &str = "git-ssh-key";
const KNOWN_HOSTS_FILE: &str = "git-ssh-known-hosts";
const CONFIG_FILE: &str = "git-config";
const NO_SUBMODULES: &str = "warning: cannot fetch all submodules, see the lines above; the steps have to fetch \
                             them. The repository's credentials are used only for the addresses in LAUNCHWAY_GIT_URLS.";
const NO_LARGE_FILES: &str =
    "warning: cannot fetch all Git LFS files, see the lines above; the steps have to fetch them";
const OTHER_LARGE_FILES: &str =
    "warning: .lfsconfig may name another server, which gets no credentials; the steps have to fetch the Git LFS files";

impl Attempt {
    /// Fetches the source. Returns the commit if the source is a git repository.
    pub(super) async fn fetch(&self) -> Result<Option<String>, AttemptError> {
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

    async fn fetch_archive(&self, url: &str, name: &str, size: u64, sha256: &str) -> Result<(), AttemptError> {
        let (packed, is_ours) = match &self.archive {
            SourceArchive::Storage(storage) => {
                let packed = self.workspace.root.join("source.packed");
                let download = source::download(storage, self.context.machine.as_ref(), url, &packed, size, sha256);
                self.stopper.unless_stopped(download).await?.map_err(failed)?;
                (packed, true)
            }
            SourceArchive::Here(file) => (file.clone(), false),
        };
        // The archive is unpacked by the user of the build.
        self.hand_over().await?;
        let limits = &self.context.settings.limits;
        let task = Task::Unpack {
            archive: packed.clone(),
            name: name.to_owned(),
            beside: self.workspace.root.join("unpacked"),
            to: self.workspace.source(),
            bytes: limits.source_bytes,
            entries: limits.source_entries,
        };
        self.read_foreign::<()>(&task)
            .await?
            .map_err(|problem| invalid(sentence(&problem)))?;
        match is_ours {
            true => fs::remove_file(&packed).map_err(AttemptError::internal),
            false => Ok(()),
        }
    }

    async fn fetch_git(&self, url: &str, reference: &str) -> Result<String, AttemptError> {
        git::check_url(url, self.context.settings.allow_local_git).map_err(invalid)?;
        let revision = Revision::parse(reference).map_err(invalid)?;
        let closed = self.closed_ports();
        let fetched = self.run_git(url, revision.reference).await;
        if let Err(AttemptError::Failed(BuildErrorCode::SourceInvalid, _)) = &fetched {
            self.explain(StepEnd::Exited(1), closed.as_ref()).await;
        }
        // No step may find the credentials, even if the fetch failed.
        let directory = Inside::open(&self.workspace.files()).map_err(AttemptError::internal)?;
        for file in [KEY_FILE, KNOWN_HOSTS_FILE, CONFIG_FILE] {
            directory.remove_file(Path::new(file)).map_err(AttemptError::internal)?;
        }
        let commit = fetched?;
        let commit = commit.ok_or_else(|| AttemptError::internal("Cannot read the commit from git"))?;
        let source = self.workspace.source();
        let entries = self.context.settings.limits.source_entries;
        let checked = self.blocking(move |stopper| source::check_links(&source, &mut Effort::new(stopper, entries)));
        checked.await?.map_err(failed)?;
        self.log.say(&format!("commit {commit}")).await;
        Ok(commit)
    }

    /// Fetches and checks out. Returns the commit if git reports it. When the repository has credentials, submodules
    /// and LFS files are fetched with them if possible; otherwise both are left to the steps.
    async fn run_git(&self, url: &str, reference: &str) -> Result<Option<String>, AttemptError> {
        let mut env = environment::base(
            &self.context.settings.path,
            &self.workspace,
            &self.context.mark(&self.record.key()),
        );
        let urls = self.variable(git::URLS).unwrap_or_default();
        let bound = git::AllowedRepositories::parse(urls).unwrap_or_default();
        let (token, key) = self.credentials(url, &bound).await;
        let has_credentials = token.is_some() || key.is_some();
        let hosts = git::known_hosts(self.variable(git::SSH_KNOWN_HOSTS));
        let key = key.map(|key| self.write(KEY_FILE, key)).transpose()?;
        let program = self
            .context
            .program(self.workspace.user)
            .map_err(AttemptError::internal)?;
        let files = git::Ssh {
            key: key.as_deref().map(|file| git::Key {
                file,
                urls,
                program: &program,
            }),
            known_hosts: &self.write(KNOWN_HOSTS_FILE, &hosts)?,
        };
        self.hand_over().await?;
        let ask = |words| self.ask_command(StepCommand::Program(words), env.clone());
        let with_lfs = has_credentials && ask(git::lfs_command()).await?.is_some();
        let config = self.write(CONFIG_FILE, &git::config(&bound, token, with_lfs))?;
        self.hand_over().await?;
        env.extend(git::environment(&config, files, self.context.settings.allow_local_git));
        for words in git::commands(url, reference) {
            if !self.git(words, &env).await? {
                return Err(invalid(not_fetched(url, reference)));
            }
        }
        if !self.git(git::checkout_command(), &env).await? {
            return Err(invalid(not_fetched(url, reference)));
        }
        if with_lfs {
            self.fetch_large_files(&env).await?;
        }
        let modules = Inside::open(&self.workspace.source()).and_then(|source| source.kind(Path::new(".gitmodules")));
        if has_credentials
            && modules.map_err(AttemptError::internal)?.is_some()
            && !self.git(git::submodules_command(), &env).await?
        {
            self.log.say(NO_SUBMODULES).await;
        }
        self.ask_command(StepCommand::Program(git::commit_command()), env).await
    }

    /// The token and the key, if they are bound to this repository.
    async fn credentials(&self, url: &str, bound: &git::AllowedRepositories) -> (Option<&str>, Option<&str>) {
        if bound.covers(url) {
            return (self.variable(git::TOKEN), self.variable(git::SSH_KEY));
        }
        let is_leased = |name: &&str| self.variable(name).is_some();
        if [git::TOKEN, git::SSH_KEY, git::URLS].iter().any(is_leased) {
            let line = format!(
                "{} does not include this repository: it is fetched without credentials",
                git::URLS
            );
            self.log.say(&line).await;
        }
        (None, None)
    }

    /// Fetches the LFS files from the repository's own server, if possible.
    async fn fetch_large_files(&self, env: &BTreeMap<String, String>) -> Result<(), AttemptError> {
        let list = StepCommand::Program(git::list_large_files_command());
        if self.ask_command(list, env.clone()).await?.is_none() {
            return Ok(());
        }
        let config = Inside::open(&self.workspace.source()).and_then(|source| source.kind(Path::new(git::LFS_CONFIG)));
        if config.map_err(AttemptError::internal)?.is_some() {
            self.log.say(OTHER_LARGE_FILES).await;
            return Ok(());
        }
        let mut env = env.clone();
        env.remove(git::WITHOUT_LARGE_FILES);
        if !self.git(git::large_files_command(), &env).await? {
            self.log.say(NO_LARGE_FILES).await;
        }
        Ok(())
    }

    /// Runs a git command. Returns whether it succeeded.
    async fn git(&self, words: Vec<String>, env: &BTreeMap<String, String>) -> Result<bool, AttemptError> {
        let end = self.run_command(StepCommand::Program(words), env.clone(), None).await?;
        Ok(end == StepEnd::Exited(0))
    }

    /// Makes the user of the build the owner of the fetched files.
    pub(super) async fn hand_over(&self) -> Result<(), AttemptError> {
        let workspace = Arc::clone(&self.workspace);
        let handed = self.blocking(move |stopper| workspace.hand_over(&mut Effort::new(stopper, u64::MAX)));
        handed.await?.map_err(AttemptError::internal)
    }

    /// The value of a variable of the organization.
    fn variable(&self, name: &str) -> Option<&str> {
        let found = self
            .lease
            .env
            .iter()
            .find(|variable| variable.name == name && variable.path.is_none());
        found.map(|variable| variable.value.reveal())
    }

    /// Writes a file for the fetch.
    fn write(&self, name: &str, text: &str) -> Result<PathBuf, AttemptError> {
        let written = Inside::open(&self.workspace.files()).and_then(|inside| {
            let mut file = inside.create(Path::new(name), 0o600)?;
            file.write_all(text.as_bytes())?;
            // `ssh` requires a final line break, which a form may have removed.
            match text.ends_with('\n') {
                true => Ok(()),
                false => file.write_all(b"\n"),
            }
        });
        written.map_err(AttemptError::internal)?;
        Ok(self.workspace.files().join(name))
    }
}

fn not_fetched(url: &str, reference: &str) -> String {
    let (token, key, hosts, urls) = (git::TOKEN, git::SSH_KEY, git::SSH_KNOWN_HOSTS, git::URLS);
    let known = match git::is_ssh(url) {
        true => format!(
            " If host key verification failed, compare the keys that ssh-keyscan prints for the host with those that \
             its owner publishes, and set them as the variable {hosts}."
        ),
        false => String::new(),
    };
    format!(
        "git cannot fetch `{reference}`. See the log for the reason, and check the address and the ref. If the \
         repository is not public, set {token} or {key}, and add the repository to {urls}, without which they are \
         not used.{known}"
    )
}

fn failed(error: SourceError) -> AttemptError {
    let code = match error {
        SourceError::Entry { .. } | SourceError::Invalid(_) => BuildErrorCode::SourceInvalid,
        SourceError::Unavailable(_) | SourceError::Runner(_) => BuildErrorCode::Internal,
    };
    AttemptError::Failed(code, sentence(&error.to_string()))
}
