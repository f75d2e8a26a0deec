//! Whether a text that is verified but not unpacked has the form that its preamble states: a tree or a list.

use std::{
    io::{self, Write},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{
    error::{Error, Flaw},
    layout::Content,
    list_form::ListForm,
    tree::TreeForm,
};

/// Checks the form of a text that is written to it. Clones share their state.
#[derive(Clone)]
pub(crate) struct Form(Arc<Mutex<Kind>>);

enum Kind {
    Bytes,
    Tree(TreeForm),
    List(ListForm),
}

impl Form {
    /// A check for a text that must have the form of `content`.
    pub(crate) fn of(content: Content) -> Form {
        Form(Arc::new(Mutex::new(match content {
            Content::Bytes => Kind::Bytes,
            Content::Tree => Kind::Tree(TreeForm::default()),
            Content::List => Kind::List(ListForm::default()),
        })))
    }

    /// Returns whether the text that was written is well formed and complete.
    ///
    /// # Errors
    /// [`Flaw::Tree`], [`Flaw::List`].
    pub(crate) fn finish(&self) -> Result<(), Error> {
        match &*self.lock() {
            Kind::Tree(form) if !form.is_whole() => Err(Error::NotAuthentic(Flaw::Tree)),
            Kind::List(form) if !form.is_whole() => Err(Error::NotAuthentic(Flaw::List)),
            _ => Ok(()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Kind> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writing never fails: a malformed text is reported by [`Form::finish`], because a chunk that is not authentic is the
/// more important error and must be reported first.
impl Write for Form {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut *self.lock() {
            Kind::Bytes => {}
            Kind::Tree(form) => form.take(bytes),
            Kind::List(form) => form.take(bytes),
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
