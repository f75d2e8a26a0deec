//! The journal of an interrupted run of studies.

/// Takes arbitrary bytes as the journal of `study all`, or as valid lines of one: see
/// [`sealwright_study::journal_fuzz`].
pub(crate) fn study_journal(bytes: &[u8]) {
    sealwright_study::journal_fuzz(crate::folder::folder().path(), bytes);
}
