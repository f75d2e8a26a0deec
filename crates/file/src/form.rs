//! Whether a text that nobody unpacks, since it is only verified, is what its file says that it is: a tree or a list.

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

/// Takes a text, and tells at its end. More handles than one write to the same.
#[derive(Clone)]
pub(crate) struct Form(Arc<Mutex<Kind>>);

enum Kind {
    Bytes,
    Tree(TreeForm),
    List(ListForm),
}

impl Form {
    /// For a text that shall be `content`.
    pub(crate) fn of(content: Content) -> Form {
        Form(Arc::new(Mutex::new(match content {
            Content::Bytes => Kind::Bytes,
            Content::Tree => Kind::Tree(TreeForm::default()),
            Content::List => Kind::List(ListForm::default()),
        })))
    }

    /// The text has ended.
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

/// Whatever is wrong is told at the end: that a chunk was changed is the graver error.
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
