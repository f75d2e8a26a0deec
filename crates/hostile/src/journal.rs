//! What an interrupted run of studies left behind.

/// Any bytes as the journal of `study all`, or lines that it can have: see [`sealwright_study::journal_fuzz`].
pub(crate) fn study_journal(bytes: &[u8]) {
    sealwright_study::journal_fuzz(crate::folder::folder().path(), bytes);
}
