//! Release builds beside the tests: tests use one processor for most of their time, and optimised builds take long. They run
//! at the lowest priority, and the steps `sizes` and `release` then find them built.

use std::{
    env,
    process::{Child, Command, Stdio},
};

/// The builds under way.
pub(crate) struct Beside(Option<Child>);

impl Beside {
    /// Begins the builds of [`crate::sizes`], the release binaries among them. What fails here fails again in its step, which says why.
    pub(crate) fn begin() -> Beside {
        let begun = env::current_exe().and_then(|program| {
            let mut command = Command::new("nice");
            command.args(["-n", "19"]).arg(program).arg("sizes");
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
        });
        Beside(begun.ok())
    }

    /// Waits for their end.
    pub(crate) fn end(&mut self) {
        if let Some(mut child) = self.0.take() {
            let _ = child.wait();
        }
    }
}
