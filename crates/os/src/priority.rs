//! The priorities of threads: what is answered at once comes before what can wait.

/// By how much the nice value of a raised thread is lower. On a busy processor it gets about three times the share of another
/// thread.
const STEP: i32 = 5;

/// Raises the priority of the calling thread, and with it that of the threads and processes that it starts from now on. Linux allows
/// this to root, and to a process whose limit `RLIMIT_NICE` allows the whole step; otherwise nothing changes.
pub fn raise() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{getpriority_process, setpriority_process};
        // Without a process, Linux means the calling thread.
        let _ = getpriority_process(None).and_then(|nice| setpriority_process(None, nice - STEP));
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::thread;

    use rustix::process::{getpriority_process, setpriority_process};

    use super::*;

    fn nice() -> Option<i32> {
        getpriority_process(None).ok()
    }

    /// What the system allows to threads of this process.
    fn allowed(before: i32) -> i32 {
        let tried = thread::spawn(move || setpriority_process(None, before - STEP).is_ok());
        if tried.join().unwrap_or(false) {
            before - STEP
        } else {
            before
        }
    }

    #[test]
    fn a_thread_raises_itself_where_that_is_allowed() {
        let before = nice().expect("a nice value");
        let raised = thread::spawn(|| {
            raise();
            nice()
        });
        assert_eq!(raised.join().unwrap(), Some(allowed(before)));
        assert_eq!(nice(), Some(before));
    }
}
