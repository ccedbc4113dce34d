//! Progress bars, on terminals only.

use std::sync::Arc;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar, or nothing without a terminal. It disappears when it is dropped.
pub struct Progress(ProgressBar);

impl Progress {
    pub(super) fn begin(shown: bool, doing: &'static str, bytes: u64) -> Self {
        let target = if shown {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(Some(bytes), target).with_message(doing);
        let style = ProgressStyle::with_template("{msg} [{wide_bar}] {bytes}/{total_bytes}");
        bar.set_style(
            style
                .unwrap_or_else(|_| ProgressStyle::default_bar())
                .progress_chars("=> "),
        );
        Self(bar)
    }

    /// The callback that moves the bar; it accepts the bytes done so far.
    pub fn callback(&self) -> Arc<dyn Fn(u64) + Send + Sync> {
        let bar = self.0.clone();
        Arc::new(move |done| bar.set_position(done))
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
