//! The list of all studies. Nothing else refers to individual studies.

use crate::{error::StudyError, study::Study};

/// Every study, in the order of the chapters.
pub static STUDIES: &[&dyn Study] = &[
    &crate::files::Files,
    &crate::messages::Messages,
    &crate::sessions::Sessions,
    &crate::bus::Bus,
    &crate::cores::Cores,
];

/// The names of all studies.
pub fn names() -> impl Iterator<Item = &'static str> {
    STUDIES.iter().map(|study| study.name())
}

/// The study called `name`.
pub fn by_name(name: &str) -> Option<&'static dyn Study> {
    STUDIES.iter().copied().find(|study| study.name() == name)
}

/// The study called `name`.
///
/// # Errors
/// [`StudyError::Unknown`] when there is none.
pub(crate) fn find(name: &str) -> Result<&'static dyn Study, StudyError> {
    by_name(name)
        .ok_or_else(|| StudyError::Unknown { name: name.to_owned(), known: names().collect::<Vec<_>>().join(", ") })
}
