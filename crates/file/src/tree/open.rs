//! Opening a tree: the opened text passes through a pipe to the code that unpacks it.

use std::{io, path::PathBuf, thread::Builder};

use super::Unpacking;
use crate::{Content, Error, Input, Opening, Output};

impl Opening<'_> {
    /// Opens a tree and unpacks it. It appears under its name only when all of it is proven.
    ///
    /// # Errors
    /// [`Error::NotATree`], [`Error::OtherName`], [`Error::Exists`]; those of [`Opening::open`]. Nothing is left then.
    pub fn unpack(&self, mut input: Input, unpacking: &Unpacking<'_>) -> Result<PathBuf, Error> {
        let is_tree = |content| if content == Content::Tree { Ok(()) } else { Err(Error::NotATree) };
        self.refuse_content(&mut input, is_tree)?;
        let (mut text, to) = io::pipe().map_err(Error::io("open", "a pipe"))?;
        let threads = self.work.threads;
        std::thread::scope(|scope| {
            let run = move || {
                let unpacked = unpacking.run(&mut text, threads);
                // Closes the pipe, which tells an opener that is still writing to stop.
                drop(text);
                unpacked
            };
            let unpacked = Builder::new().spawn_scoped(scope, run).map_err(Error::io("start", "a thread"))?;
            let opened = self.open_text(input, Output::writer(to, "the tree"));
            let unpacked = unpacked.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            match (opened, unpacked) {
                (Ok(_), unpacked) => unpacked?.commit(),
                // Unpacking failed first and closed the pipe: its error is the cause.
                (Err(Error::Io { doing: "write", error: broken, .. }), Err(error))
                    if broken.kind() == io::ErrorKind::BrokenPipe =>
                {
                    Err(error)
                }
                (Err(error), _) => Err(error),
            }
        })
    }
}
