//! Sealing: any input to any output, whole and authenticated, or nothing.

use std::{
    fs::{File, Metadata},
    io::{Read, Write},
};

use sealwright::{Isa, Suite};
use sealwright_stream::{ChunkCipher, chunk};

#[cfg(feature = "signatures")]
use crate::sign::{Signed, SigningKey, TextSigner};
use crate::{
    armor::ArmorWriter,
    body::Body,
    costs::Costs,
    error::Error,
    file_id::{FileId, Summary},
    input::{AtMost, Cursored, From, Input},
    key::Key,
    layout::{Content, Layout, pad::Padder},
    output::{Draft, Output, Placed, To},
    preamble::{KeySource, Preamble, recipients_fixed},
    progress::Work,
    read::unread,
    recipient::Recipient,
    secret::Secret,
    slots::{Slots, input_key, new_file_key},
    span::{self, Span},
    window::{by_position, fill_parts, in_order},
};

/// How to seal.
///
/// ```
/// use sealwright_file::{Costs, Input, Key, Output, OutputOptions, Sealing};
///
/// let directory = tempfile::tempdir()?;
/// let (from, to) = (directory.path().join("text"), directory.path().join("text.seal"));
/// std::fs::write(&from, "a text")?;
/// let key = Key::passphrase("six words that nobody guesses so")?;
/// let sealing = Sealing::new(&key).costs(Costs { memory_kib: 1024, ..Costs::default() }); // little, for an example
/// sealing.seal(Input::open(&from)?, Output::file(&to, OutputOptions::default())?)?;
/// assert!(to.exists()); // all of it, or nothing
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[doc(alias("encrypt", "plaintext"))]
#[non_exhaustive]
pub struct Sealing<'a> {
    /// Who can open the file.
    pub lock: Lock<'a>,
    /// Cipher and mode.
    pub suite: Suite,
    /// What a passphrase shall cost.
    pub costs: Costs,
    /// Associated data: not stored; must be given again to open.
    pub ad: &'a [u8],
    /// What the input is.
    pub content: Content,
    /// Who signs the text.
    #[cfg(feature = "signatures")]
    pub signer: Option<&'a SigningKey>,
    /// Pads the text, so that the length of the sealed file reveals that of the text only roughly.
    pub padded: bool,
    /// Armored: as text between a first and a last marker line.
    pub armor: bool,
    /// Instruction set to use.
    pub isa: Isa,
    /// Threads, progress, interrupt.
    pub work: Work,
}

/// Who can open a file.
///
/// ```
/// use sealwright_file::{Key, Lock, Recipient, Sealing};
///
/// let recipients = [Recipient::Key(Key::generate(sealwright_file::Suite::Aes256Gcm)?)];
/// let sealing = Sealing::for_recipients(&recipients);
/// assert!(matches!(sealing.lock, Lock::Recipients(list) if list.len() == 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Lock<'a> {
    /// The holder of this raw key or passphrase. After its preamble, the file is plain C2SP chunked encryption.
    Key(&'a Key),
    /// Each of these recipients, independently.
    Recipients(&'a [Recipient]),
}

impl<'a> Sealing<'a> {
    /// For `recipients`, each of which opens the file alone; all else as in [`Sealing::new`].
    pub fn for_recipients(recipients: &'a [Recipient]) -> Self {
        Sealing::with(Lock::Recipients(recipients))
    }

    /// With `key`, AES-256-GCM, default costs, no associated data, the best instructions, every core.
    pub fn new(key: &'a Key) -> Self {
        Sealing::with(Lock::Key(key))
    }

    fn with(lock: Lock<'a>) -> Self {
        Sealing {
            lock,
            suite: Suite::Aes256Gcm,
            costs: Costs::default(),
            ad: &[],
            content: Content::default(),
            #[cfg(feature = "signatures")]
            signer: None,
            padded: false,
            armor: false,
            isa: Isa::best(),
            work: Work::default(),
        }
    }

    /// With another suite.
    pub fn suite(self, suite: Suite) -> Self {
        Sealing { suite, ..self }
    }

    /// With other costs of a passphrase.
    pub fn costs(self, costs: Costs) -> Self {
        Sealing { costs, ..self }
    }

    /// With associated data.
    #[doc(alias("aad", "associated data"))]
    pub fn ad(self, ad: &'a [u8]) -> Self {
        Sealing { ad, ..self }
    }

    /// With an input that is a tree, made by [`pack`](crate::tree::pack).
    pub fn content(self, content: Content) -> Self {
        Sealing { content, ..self }
    }

    /// Signs the text, so that whoever opens the file can verify who sealed it.
    #[cfg(feature = "signatures")]
    pub fn sign(self, signer: Option<&'a SigningKey>) -> Self {
        Sealing { signer, ..self }
    }

    /// Pads the text, so that the length of the sealed file reveals that of the text only roughly.
    pub fn pad(self, padded: bool) -> Self {
        Sealing { padded, ..self }
    }

    /// As text: base64 in lines, larger by a third.
    pub fn armor(self, armor: bool) -> Self {
        Sealing { armor, ..self }
    }

    /// With a given instruction set.
    pub fn isa(self, isa: Isa) -> Self {
        Sealing { isa, ..self }
    }

    /// With given threads, progress and interrupt.
    pub fn work(self, work: Work) -> Self {
        Sealing { work, ..self }
    }

    /// The layout of the text. It is set to signed if and only if there is a signer: if the preamble of an unsigned
    /// file said that it is signed, a reader would take the end of the text for the signature.
    fn layout(&self) -> Layout {
        #[cfg(feature = "signatures")]
        let signed = self.signer.is_some();
        #[cfg(not(feature = "signatures"))]
        let signed = false;
        Layout { content: self.content, signed, padded: self.padded }
    }

    /// Seals all of `input`. An output file gets the input file's permission bits, or 0600 when there are none to take,
    /// unless [told otherwise](Output::mode). With an access list (ACL), the group's bits are those of the group
    /// itself.
    ///
    /// # Errors
    /// [`Error::Io`] when `input` cannot be read or `output` not written; [`Error::SameFile`] and
    /// [`Error::EndlessOutput`] for outputs that cannot be used; [`Error::Exists`] for one that appeared meanwhile;
    /// [`Error::Changed`] if `input` was written to meanwhile; [`Error::TooLong`]; [`Error::KeyLength`] if a raw key is not
    /// of the suite, and [`Error::KeyKind`] for the secret key of a pair; [`Error::Costs`] and [`Error::NoMemory`] for a
    /// passphrase; [`Error::NoSlots`] and [`Error::TooManySlots`] for recipients; [`Error::Random`];
    /// [`Error::Interrupted`]. An output file then does not appear, an existing one stays as it was.
    pub fn seal(&self, input: Input, output: Output) -> Result<Summary, Error> {
        output.differs_from(input.identity())?;
        output.has_an_end()?;
        let (source, input_key) = self.lock()?;
        let preamble = Preamble { suite: self.suite, layout: self.layout(), source };
        let mut header = preamble.to_bytes();
        let (cipher, begin) = ChunkCipher::create(self.suite, self.isa, &input_key, &[&preamble.context(), self.ad])?;
        let body = Body::new(cipher, &begin, header.len() as u64);
        header.extend(begin);
        self.seal_body(&body, &header, input, output)
    }

    /// The key source of a new file, and the input key of its body.
    fn lock(&self) -> Result<(KeySource, Secret), Error> {
        match self.lock {
            Lock::Key(key) => key.for_sealing(self.suite, self.costs),
            Lock::Recipients(recipients) => {
                let (file_key, fixed) = (new_file_key()?, recipients_fixed(self.suite, self.layout()));
                let slots = recipients.iter().map(|recipient| recipient.slot(&file_key, self.costs, &fixed));
                let slots = Slots::new(slots.collect::<Result<_, _>>()?, &file_key, &fixed)?;
                Ok((KeySource::Recipients(slots), input_key(&file_key, self.suite)))
            }
        }
    }

    /// Seals `input` to `output` after `header`.
    pub(crate) fn seal_body(&self, body: &Body, header: &[u8], input: Input, output: Output) -> Result<Summary, Error> {
        let (identity, mode) = (input.identity(), input.mode().unwrap_or(output.mode));
        self.work.progress.begin(input.len());
        let transfer = SealTransfer { body, header, work: &self.work, from: &input.name, to: &output.name };
        let durable = matches!(&output.to, To::File { options, .. } if options.sync);
        let lengths = match (input.from, output.to) {
            (From::File { file, meta }, To::File { path, options }) if !self.armor && self.layout().is_plain() => {
                if meta.len() > chunk::MAX_TEXT {
                    return Err(Error::TooLong);
                }
                let draft = Draft::create(&path, options)?;
                draft.room_for(sealed_len(header, meta.len()))?;
                transfer.file_to_file(&file, &draft, &meta)?;
                draft.commit(mode)?;
                Lengths { text: meta.len(), laid_out: meta.len() }
            }
            (from, To::File { path, options }) => {
                let draft = Draft::create(&path, options)?;
                let lengths = self.ordered(&transfer, from, &draft)?;
                draft.commit(mode)?;
                lengths
            }
            (from, To::Stream(to)) => self.ordered(&transfer, from, to)?,
        };
        let sealed = sealed_len(header, lengths.laid_out);
        let commitment = body.commitment();
        Ok(Summary {
            text: lengths.text,
            sealed,
            suite: self.suite,
            input: identity,
            durable,
            commitment,
            signer: None,
        })
    }

    /// Seals in order, armored if requested.
    fn ordered(&self, body: &SealTransfer<'_>, from: From, mut to: impl Write + Send) -> Result<Lengths, Error> {
        if !self.armor {
            return self.laid_out(body, from, &mut to);
        }
        let mut to = ArmorWriter::new(to);
        let lengths = self.laid_out(body, from, &mut to)?;
        to.finish().map_err(Error::io("write", body.to))?;
        Ok(lengths)
    }

    /// Seals in order: a file, which must not change meanwhile, or a stream.
    fn laid_out(&self, body: &SealTransfer<'_>, from: From, to: &mut (impl Write + Send)) -> Result<Lengths, Error> {
        match from {
            From::File { file, meta } => {
                let lengths = {
                    // A file that grows while it is read must not be read forever.
                    let from = AtMost { from: Cursored { file: &file, at: 0 }, left: meta.len().saturating_add(1) };
                    self.wrapped(body, from, to)?
                };
                body.unchanged(&file, &meta, lengths.text)?;
                Ok(lengths)
            }
            From::Stream(from) => self.wrapped(body, from, to),
        }
    }

    /// Seals the text of `from`, with padding and signature as the layout requires.
    fn wrapped(
        &self,
        body: &SealTransfer<'_>,
        mut from: impl Read + Send,
        to: &mut (impl Write + Send),
    ) -> Result<Lengths, Error> {
        #[cfg(feature = "signatures")]
        if let Some(key) = self.signer {
            let commitment = body.body.commitment();
            let fixed = body.header.first_chunk().expect("a header is longer than its fixed part");
            let mut signer = TextSigner::new(from, key, Signed::Text { fixed, commitment: &commitment });
            let laid_out = self.padded(body, &mut signer, to)?.laid_out;
            return Ok(Lengths { text: signer.text(), laid_out });
        }
        self.padded(body, &mut from, to)
    }

    /// Seals the text of `from`, padded if requested.
    fn padded(
        &self,
        body: &SealTransfer<'_>,
        from: &mut (impl Read + Send),
        to: &mut (impl Write + Send),
    ) -> Result<Lengths, Error> {
        if !self.padded {
            let text = body.in_order(from, to)?;
            return Ok(Lengths { text, laid_out: text });
        }
        let mut padder = Padder::new(from);
        let laid_out = body.in_order(&mut padder, to)?;
        Ok(Lengths { text: padder.text(), laid_out })
    }
}

/// Lengths of a text, in bytes.
struct Lengths {
    /// Of the text alone.
    text: u64,
    /// With padding and signature.
    laid_out: u64,
}

/// Length of the sealed file of `text` bytes with the header `header`.
fn sealed_len(header: &[u8], text: u64) -> u64 {
    (header.len() - chunk::HEADER) as u64 + chunk::sealed_len(text)
}

/// The transfer from one input to one output.
struct SealTransfer<'a> {
    body: &'a Body,
    header: &'a [u8],
    work: &'a Work,
    from: &'a str,
    to: &'a str,
}

impl SealTransfer<'_> {
    /// Every worker reads, seals and writes spans at their positions.
    fn file_to_file(&self, from: &File, to: &Draft, meta: &Metadata) -> Result<(), Error> {
        let text = meta.len();
        Placed { draft: to, at: 0 }.write_all(self.header).map_err(Error::io("write", self.to))?;
        by_position(text, self.work, |span| {
            let at = span.index * span::PLAIN as u64;
            let wanted = span.text;
            let got = fill_parts(&mut Cursored { file: from, at }, &mut span.text_mut(wanted));
            let got = got.map_err(|error| unread(error, self.from))?;
            if got < wanted {
                return Err(self.changed(text, at + got as u64));
            }
            span.seal(self.body);
            let at = self.body.offset(span.index * span::CHUNKS as u64);
            Placed { draft: to, at }.write_all(span.sealed()).map_err(Error::io("write", self.to))?;
            Ok(wanted as u64)
        })?;
        self.unchanged(from, meta, text)
    }

    /// Seals in order. Returns the length of the text.
    fn in_order(&self, from: &mut (impl Read + Send + ?Sized), to: &mut (impl Write + Send)) -> Result<u64, Error> {
        to.write_all(self.header).map_err(Error::io("write", self.to))?;
        let mut text = 0;
        let read = |span: &mut Span| {
            let parts = fill_parts(from, &mut span.text_mut(span::PLAIN));
            let got = parts.map_err(|error| unread(error, self.from))?;
            (span.text, span.last) = (got, got < span::PLAIN);
            text += got as u64;
            if text > chunk::MAX_TEXT { Err(Error::TooLong) } else { Ok(got) }
        };
        let seal = |span: &mut Span, _| {
            span.seal(self.body);
            Ok(())
        };
        in_order(self.work, read, seal, |span| to.write_all(span.sealed()).map_err(Error::io("write", self.to)))?;
        to.flush().map_err(Error::io("write", self.to))?;
        Ok(text)
    }

    /// Checks that the input is unchanged since it was opened, and that all of it was read.
    fn unchanged(&self, file: &File, before: &Metadata, read: u64) -> Result<(), Error> {
        let now = file.metadata().map_err(Error::io("read", self.from))?;
        if !FileId::of(before).is_still(&FileId::of(&now)) {
            return Err(self.changed(before.len(), now.len()));
        }
        if read != before.len() { Err(self.changed(before.len(), read)) } else { Ok(()) }
    }

    fn changed(&self, before: u64, after: u64) -> Error {
        Error::Changed { place: self.from.into(), before, after }
    }
}
