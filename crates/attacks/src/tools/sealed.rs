//! Sealed files in memory: what attacks on files must fail against.

use std::io::Cursor;

use sealwright_file::{Input, Key, Opening, Output, Sealing, Shared};

use crate::attack::AttackError;

/// A sealed file.
pub(crate) fn seal(key: &[u8], text: &[u8]) -> Result<Vec<u8>, AttackError> {
    let mut sealed = Shared::default();
    let input = Input::reader(Cursor::new(text.to_vec()), "text");
    Sealing::new(&Key::raw(key)).seal(input, Output::writer(sealed.clone(), "sealed"))?;
    Ok(sealed.take())
}

/// What a sealed file opens to, if it does.
pub(crate) fn open(key: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
    let mut text = Shared::default();
    let input = Input::reader(Cursor::new(sealed.to_vec()), "sealed");
    Opening::new(&Key::raw(key)).open(input, Output::writer(text.clone(), "text")).ok()?;
    Some(text.take())
}
