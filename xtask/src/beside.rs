//! The release build beside the tests: tests use one processor for most of their time, and an optimised build takes long. It runs
//! at the lowest priority, and the steps `sizes` and `release` then find it done.

use std::{
    env,
    process::{Child, Command, Stdio},
};

/// The build under way.
pub(crate) struct Beside(Option<Child>);

impl Beside {
    /// Begins the build of the release binaries. What fails here fails again in its step, which says why.
    pub(crate) fn begin() -> Beside {
        let begun = env::current_exe().and_then(|program| {
            let mut command = Command::new("nice");
            command.args(["-n", "19"]).arg(program).arg("release");
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
        });
        Beside(begun.ok())
    }

    /// Waits for its end.
    pub(crate) fn end(&mut self) {
        if let Some(mut child) = self.0.take() {
            let _ = child.wait();
        }
    }
}
