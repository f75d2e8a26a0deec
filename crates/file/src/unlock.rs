//! Finds the file key with the keys that the caller has.

use crate::{
    costs::Ceiling,
    error::{Error, Flaw},
    key::Key,
    secret::Secret,
    slots::{Fixed, Slots},
};

/// The file key, from the first slot that one of `keys` opens. The header was authenticated with it.
pub(crate) fn file_key(slots: &Slots, fixed: &Fixed, keys: &[Key], ceiling: Ceiling) -> Result<Secret, Error> {
    let mut too_costly = None;
    for key in keys {
        for slot in slots.iter() {
            let slot_key = match key.slot_key(slot.kind(), ceiling) {
                Ok(Some(slot_key)) => slot_key,
                Ok(None) => continue,
                // Another slot or key may open it for less.
                Err(error @ Error::TooCostly { .. }) => {
                    too_costly.get_or_insert(error);
                    continue;
                }
                Err(error) => return Err(error),
            };
            if let Some(file_key) = slot.open(&slot_key, fixed)? {
                return match slots.are_authentic(&file_key, fixed) {
                    true => Ok(file_key),
                    false => Err(Error::NotAuthentic(Flaw::Header)),
                };
            }
        }
    }
    Err(too_costly.unwrap_or(Error::NoneOpens))
}
