//! Changing who can open a file, without sealing it anew.

use std::{
    fs::{self, File},
    io::{self, Seek, SeekFrom, Write},
    os::unix::fs::MetadataExt,
    path::Path,
    time::Instant,
};

use rustix::fs::CWD;

#[cfg(feature = "public-keys")]
use crate::key::PublicKey;
#[cfg(feature = "public-keys")]
use crate::slots::mark;
use crate::{
    access,
    costs::{Ceiling, Costs},
    error::{Error, OutputFault},
    file_id::FileId,
    found::{Found, regular},
    input::Input,
    key::Key,
    lock::{LOCK_RETRY_INTERVAL, LOCK_TIMEOUT, lock},
    open::Opening,
    output::{Draft, OutputOptions},
    preamble::{KeySource, Preamble, recipients_fixed},
    progress::Work,
    recipient::Recipient,
    secret::Secret,
    slots::{Fixed, Slot, SlotKind, Slots},
    unlock::file_key,
};

/// How to change the keys of a file that was sealed for recipients.
///
/// The body does not change: it is copied behind a new header, and the new file replaces the old one atomically, so
/// that a power failure leaves one or the other. If two programs change the keys of one file, the second waits for the
/// first, for at most ten seconds. Whoever could open the file before may have kept a copy of it, or of its file key,
/// which the new header does not change: to exclude somebody from later versions, seal those versions anew.
///
/// ```
/// use sealwright_file::{Input, Key, Output, OutputOptions, Recipient, Rekeying, Removal, SecretKey, Sealing};
///
/// let directory = tempfile::tempdir()?;
/// let path = directory.path().join("text.seal");
/// let (alice, bob) = (SecretKey::generate()?, SecretKey::generate()?);
/// let recipients = [Recipient::PublicKey(alice.public_key())];
/// Sealing::for_recipients(&recipients).seal(Input::bytes(b"a text", "text"), Output::file(&path, OutputOptions::default())?)?;
///
/// // Bob takes over.
/// let keys = [Key::pair(alice.clone())];
/// let (add, remove) = ([Recipient::PublicKey(bob.public_key())], [Removal::PublicKey(alice.public_key())]);
/// let done = Rekeying::new(&keys).adding(&add).removing(&remove).run(&path)?;
/// assert_eq!((done.added, done.removed, done.slots), (1, 1, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Rekeying<'a> {
    /// Keys of which one opens the file.
    pub keys: &'a [Key],
    /// Recipients to add.
    pub add: &'a [Recipient],
    /// Recipients to remove.
    pub remove: &'a [Removal],
    /// What new passphrases cost.
    pub costs: Costs,
    /// The most that trying a passphrase may cost.
    pub ceiling: Ceiling,
    /// Sync the new file to disk.
    pub sync: bool,
    /// Progress and interrupt.
    pub work: Work,
}

/// A slot to remove.
///
/// ```
/// use sealwright_file::{Key, Removal, SecretKey};
///
/// let gone = [
///     Removal::PublicKey(SecretKey::generate()?.public_key()),
///     Removal::Key(Key::passphrase("the old passphrase")?),
///     Removal::Passphrases, // all of them
/// ];
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Removal {
    /// The slot of a public key.
    #[cfg(feature = "public-keys")]
    PublicKey(PublicKey),
    /// The slot that this raw key, passphrase or secret key opens.
    Key(Key),
    /// The slots of all passphrases.
    Passphrases,
}

/// What was changed.
///
/// ```
/// use sealwright_file::{Input, Key, Output, OutputOptions, Recipient, Rekeyed, Rekeying, Sealing};
///
/// fn tell(done: &Rekeyed) -> String {
///     format!("keys: {} added, {} removed, {} left", done.added, done.removed, done.slots)
/// }
/// let directory = tempfile::tempdir()?;
/// let path = directory.path().join("text.seal");
/// let [mine, added] = [[7; 32], [8; 32]].map(|key| [Recipient::Key(Key::raw(key))]);
/// Sealing::for_recipients(&mine).seal(Input::bytes(b"a text", "text"), Output::file(&path, OutputOptions::default())?)?;
/// let done = Rekeying::new(&[Key::raw([7; 32])]).adding(&added).run(&path)?;
/// assert_eq!(tell(&done), "keys: 1 added, 0 removed, 2 left");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rekeyed {
    /// Slots that are new.
    pub added: usize,
    /// Slots that are gone.
    pub removed: usize,
    /// Slots in the file now.
    pub slots: usize,
    /// Number of other names of the file (hard links). They still refer to the old file, which the former keys open.
    pub other_names: u64,
    /// User and group id of the file before and now, if they could not be kept: only root can keep the owner, and only
    /// members of a group can keep the group. A new group gets no more access than all other users.
    pub owners: Option<[(u32, u32); 2]>,
}

impl<'a> Rekeying<'a> {
    /// Opens with the first of `keys` that fits: adds and removes nothing yet, default costs and ceiling, synced to
    /// disk.
    pub fn new(keys: &'a [Key]) -> Self {
        Rekeying {
            keys,
            add: &[],
            remove: &[],
            costs: Costs::default(),
            ceiling: Ceiling::default(),
            sync: true,
            work: Work::default(),
        }
    }

    /// Recipients to add.
    pub fn adding(self, add: &'a [Recipient]) -> Self {
        Rekeying { add, ..self }
    }

    /// Recipients to remove.
    pub fn removing(self, remove: &'a [Removal]) -> Self {
        Rekeying { remove, ..self }
    }

    /// With other costs of new passphrases.
    pub fn costs(self, costs: Costs) -> Self {
        Rekeying { costs, ..self }
    }

    /// With another ceiling on a passphrase's costs.
    pub fn ceiling(self, ceiling: Ceiling) -> Self {
        Rekeying { ceiling, ..self }
    }

    /// Whether to sync the new file to disk.
    pub fn sync(self, sync: bool) -> Self {
        Rekeying { sync, ..self }
    }

    /// With given threads, progress and interrupt.
    pub fn work(self, work: Work) -> Self {
        Rekeying { work, ..self }
    }

    /// Changes the keys of the file at `path`.
    ///
    /// # Errors
    /// [`Error::NotForRecipients`] for files with a key source of another kind, [`Error::NotARecipient`] if there is no
    /// such slot, [`Error::ARecipient`] if a public or raw key is to be added that opens it already, [`Error::NoSlots`]
    /// if none would be left; [`Error::Replaced`] if another file has its name meanwhile; those of opening, reading and
    /// writing. The file is then as it was.
    pub fn run(&self, path: impl AsRef<Path>) -> Result<Rekeyed, Error> {
        let path = path.as_ref();
        let failed = |error| Error::io("open", path.display().to_string())(error);
        let real = fs::canonicalize(path).map_err(failed)?;
        self.change(path, &real, || regular(CWD, &real).map_err(|error| failed(error.into())), None)
    }

    /// Changes the keys of a file that was found by walking a directory. If `opening` is given, it must open the file:
    /// somebody who can write to the directory could have placed there a file that he cannot open himself, to be given
    /// access to it.
    ///
    /// # Errors
    /// Those of [`Rekeying::run`], of [`Found::open`] and of [`Opening::commitment_of`].
    pub fn run_found(&self, found: &Found, opening: Option<&Opening<'_>>) -> Result<Rekeyed, Error> {
        let path = found.path();
        let real = fs::canonicalize(&path).map_err(Error::io("open", path.display().to_string()))?;
        // If the path now leads elsewhere through a symbolic link, this is not the file that `open` opens, and the file
        // is not changed.
        self.change(&path, &real, || found.file(), opening)
    }

    /// Changes the keys of the file that `open` opens. Its path without links is `path`; errors name it `given`.
    fn change(
        &self,
        given: &Path,
        path: &Path,
        open: impl Fn() -> Result<File, Error>,
        opening: Option<&Opening<'_>>,
    ) -> Result<Rekeyed, Error> {
        let name = given.display().to_string();
        let failed = |doing| Error::io(doing, name.clone());
        let mut from = self.locked(path, open, &name)?;
        let meta = from.metadata().map_err(failed("read"))?;
        if !meta.is_file() {
            return Err(Error::BadOutput { path: given.into(), why: OutputFault::NotRegular });
        }
        if let Some(opening) = opening {
            let same = from.try_clone().map_err(failed("read"))?;
            opening.commitment_of(Input::file(same, name.clone())?)?;
            from.rewind().map_err(failed("read"))?;
        }
        let preamble = Preamble::read(&mut from).map_err(|error| error.of(&name))?;
        let KeySource::Recipients(old) = &preamble.source else { return Err(Error::NotForRecipients) };
        let (slots, mut rekeyed) = self.changed(old, &recipients_fixed(preamble.suite, preamble.layout))?;
        let header = Preamble { source: KeySource::Recipients(slots), ..preamble }.to_bytes();

        let start = preamble.to_bytes().len() as u64;
        self.work.progress.begin(Some(meta.len()));
        let draft = Draft::create(path, OutputOptions { force: true, preserve: true, sync: self.sync })?;
        draft.room_for(header.len() as u64 + meta.len() - start)?;
        let copied = (&draft).write_all(&header).and_then(|()| {
            from.seek(SeekFrom::Start(start))?;
            self.copy(&mut from, &draft)
        });
        match copied {
            Ok(copied) if copied == meta.len() - start => {}
            Ok(copied) => return Err(Error::Changed { place: name, before: meta.len(), after: start + copied }),
            Err(error) => return Err(error.downcast().unwrap_or_else(failed("write"))),
        }
        let now = from.metadata().map_err(failed("read"))?;
        if !FileId::of(&meta).is_still(&FileId::of(&now)) {
            return Err(Error::Changed { place: name, before: meta.len(), after: now.len() });
        }
        let (before, mut mode) = (access::owner(&meta), access::bits(&from, meta.mode()));
        let owner = access::give(draft.file(), before).map_err(failed("write"))?;
        if owner.1 != before.1 {
            mode = access::for_other_group(mode);
        }
        rekeyed.other_names = now.nlink().saturating_sub(1);
        rekeyed.owners = (owner != before).then_some([before, owner]);
        // The lock is only advisory: a file that took this name meanwhile may have been written without it, and must
        // not be replaced.
        draft.commit_if(mode, || match fs::symlink_metadata(path) {
            Ok(now) if FileId::of(&meta).is_still(&FileId::of(&now)) => Ok(()),
            _ => Err(Error::Replaced(given.into())),
        })?;
        Ok(rekeyed)
    }

    /// Opens the file and waits for an exclusive lock, which is held until the file is closed. Otherwise two programs
    /// that change the keys of one file would each copy the old one, and the changes of the first would be lost.
    fn locked(&self, path: &Path, open: impl Fn() -> Result<File, Error>, name: &str) -> Result<File, Error> {
        // Anybody who can read the file can hold the lock forever. After a timeout, only the check before the
        // replacement protects.
        let until = Instant::now() + LOCK_TIMEOUT;
        while Instant::now() < until {
            let file = open()?;
            // The program that held the lock has replaced the file.
            let is_named = lock(&file, until, &self.work.interrupt).and_then(|_| {
                let (held, named) = (file.metadata()?, fs::symlink_metadata(path)?);
                Ok(FileId::of(&held).same_file(&FileId::of(&named)))
            });
            if is_named.map_err(|error| error.downcast().unwrap_or_else(Error::io("open", name)))? {
                return Ok(file);
            }
            std::thread::sleep(LOCK_RETRY_INTERVAL);
        }
        open()
    }

    /// Copies the body, with `copy_file_range` if the file system supports it, and checks for interrupts.
    fn copy(&self, from: &mut File, to: &Draft) -> io::Result<u64> {
        let mut copied = 0;
        loop {
            self.work.interrupt.check()?;
            let piece = io::copy(&mut io::Read::take(&mut *from, 64 << 20), &mut to.file())?;
            self.work.progress.advance(piece);
            copied += piece;
            if piece == 0 {
                return Ok(copied);
            }
        }
    }

    /// The slots after the changes.
    fn changed(&self, old: &Slots, fixed: &Fixed) -> Result<(Slots, Rekeyed), Error> {
        let file_key = file_key(old, fixed, self.keys, self.ceiling)?;
        let mut slots: Vec<Slot> = old.iter().cloned().collect();
        let mut removed = 0;
        for removal in self.remove {
            let mut kept = Vec::new();
            for slot in slots.drain(..) {
                if !self.is_meant(removal, &slot, &file_key, fixed)? {
                    kept.push(slot);
                }
            }
            let gone = old.iter().count() - removed - kept.len();
            if gone == 0 {
                return Err(Error::NotARecipient);
            }
            removed += gone;
            slots = kept;
        }
        for recipient in self.add {
            if let Some(name) = self.opens_already(recipient, &slots, &file_key, fixed)? {
                return Err(Error::ARecipient(name));
            }
            slots.push(recipient.slot(&file_key, self.costs, fixed)?);
        }
        let count = slots.len();
        Ok((
            Slots::new(slots, &file_key, fixed)?,
            Rekeyed { added: self.add.len(), removed, slots: count, other_names: 0, owners: None },
        ))
    }

    /// The name of `recipient` for errors, if one of `slots` is for it already. Passphrases are not checked, because
    /// each slot would take an Argon2 run.
    #[cfg_attr(not(feature = "public-keys"), expect(unused_variables, reason = "only marks of public keys need it"))]
    fn opens_already(
        &self,
        recipient: &Recipient,
        slots: &[Slot],
        file_key: &Secret,
        fixed: &Fixed,
    ) -> Result<Option<String>, Error> {
        match recipient {
            Recipient::Key(key) if key.is_passphrase() => {}
            Recipient::Key(key) => {
                for slot in slots {
                    if let Some(slot_key) = key.slot_key(slot.kind(), self.ceiling)?
                        && slot.open(&slot_key, fixed)?.is_some()
                    {
                        return Ok(Some(format!("the holder of {}", key.kind())));
                    }
                }
            }
            #[cfg(feature = "public-keys")]
            Recipient::PublicKey(key) => {
                let mark = mark(file_key, &key.to_bytes());
                if slots.iter().any(|slot| slot.kind().mark() == Some(&mark)) {
                    let text = key.to_string();
                    return Ok(Some(format!("{}...{}", &text[..12], &text[text.len() - 8..])));
                }
            }
        }
        Ok(None)
    }

    /// Whether `removal` removes this slot.
    #[cfg_attr(not(feature = "public-keys"), expect(unused_variables, reason = "only marks of public keys need it"))]
    fn is_meant(&self, removal: &Removal, slot: &Slot, file_key: &Secret, fixed: &Fixed) -> Result<bool, Error> {
        Ok(match (removal, slot.kind()) {
            (Removal::Passphrases, kind) => matches!(kind, SlotKind::Passphrase { .. }),
            #[cfg(feature = "public-keys")]
            (Removal::PublicKey(key), kind) => kind.mark() == Some(&mark(file_key, &key.to_bytes())),
            (Removal::Key(key), kind) => match key.slot_key(kind, self.ceiling)? {
                Some(slot_key) => slot.open(&slot_key, fixed)?.is_some(),
                None => false,
            },
        })
    }
}
