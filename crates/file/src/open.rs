//! Opening: every byte that is written is authentic; an output file appears only when all of it is.

use std::{
    fs::File,
    io::{Read, Write},
};

use sealwright::Isa;
use sealwright_stream::{ChunkCipher, StreamError, chunk};

#[cfg(feature = "signatures")]
use crate::sign::{Signed, SpanHashes, TextVerifier, VerifyingKey};
use crate::{
    body::{Body, read_header},
    costs::Ceiling,
    error::{Error, Flaw},
    file_id::{Commitment, Summary},
    form::Form,
    input::{Cursored, From, Input},
    key::Key,
    layout::{Content, Layout, pad::Unpadder},
    output::{Draft, Output, Placed, To},
    preamble::{KeySource, Preamble, recipients_fixed},
    progress::Work,
    read::fill,
    secret::Secret,
    slots::input_key,
    span::{self, Span},
    unlock::file_key,
    window::{by_position, in_order, write_parts},
};

/// How to open.
///
/// ```
/// use sealwright_file::{Input, Key, Opening, Output, Sealing, Shared};
///
/// let (key, mut sealed, mut text) = (Key::generate(sealwright_file::Suite::Aes256Gcm)?, Shared::default(), Shared::default());
/// let sealing = Sealing::new(&key).ad(b"invoice 7");
/// sealing.seal(Input::bytes(b"a text", "text"), Output::writer(sealed.clone(), "sealed"))?;
/// let opening = Opening::new(&key).ad(b"invoice 7");
/// opening.open(Input::bytes(sealed.take(), "sealed"), Output::writer(text.clone(), "text"))?;
/// assert_eq!(text.take(), b"a text");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[doc(alias("decrypt", "ciphertext"))]
#[non_exhaustive]
pub struct Opening<'a> {
    /// The keys to try, in order.
    pub keys: &'a [Key],
    /// Associated data, as given when sealing.
    pub ad: &'a [u8],
    /// The highest passphrase cost that a file may demand.
    pub ceiling: Ceiling,
    /// The accepted signers. Unless this is empty, one of them must have signed the file.
    #[cfg(feature = "signatures")]
    pub signers: &'a [VerifyingKey],
    /// Given if a text is opened twice: only what was opened first is written.
    #[cfg(feature = "signatures")]
    pub(crate) hashes: Option<&'a SpanHashes>,
    /// The commitment that the file must have, as a [manifest](crate::FileList) lists it.
    pub commitment: Option<Commitment>,
    /// Instruction set to use.
    pub isa: Isa,
    /// Threads, progress, interrupt.
    pub work: Work,
}

impl<'a> Opening<'a> {
    /// With `key`, no associated data, the default ceiling, the best instructions, every core.
    pub fn new(key: &'a Key) -> Self {
        Opening::with_keys(std::slice::from_ref(key))
    }

    /// With the first of `keys` that fits; all else as in [`Opening::new`].
    pub fn with_keys(keys: &'a [Key]) -> Self {
        Opening {
            keys,
            ad: &[],
            ceiling: Ceiling::default(),
            #[cfg(feature = "signatures")]
            signers: &[],
            #[cfg(feature = "signatures")]
            hashes: None,
            commitment: None,
            isa: Isa::best(),
            work: Work::default(),
        }
    }

    /// With associated data.
    #[doc(alias("aad", "associated data"))]
    pub fn ad(self, ad: &'a [u8]) -> Self {
        Opening { ad, ..self }
    }

    /// With another ceiling on a passphrase's costs.
    pub fn ceiling(self, ceiling: Ceiling) -> Self {
        Opening { ceiling, ..self }
    }

    /// Accepts only files that one of `signers` signed, unless `signers` is empty.
    #[cfg(feature = "signatures")]
    pub fn signers(self, signers: &'a [VerifyingKey]) -> Self {
        Opening { signers, ..self }
    }

    /// Accepts only the file with this commitment, if one is given.
    pub fn commitment(self, commitment: Option<Commitment>) -> Self {
        Opening { commitment, ..self }
    }

    /// With a given instruction set.
    pub fn isa(self, isa: Isa) -> Self {
        Opening { isa, ..self }
    }

    /// With given threads, progress and interrupt.
    pub fn work(self, work: Work) -> Self {
        Opening { work, ..self }
    }

    /// Opens all of `input`. An output file gets mode 0600, or the sealed file's with
    /// [`preserve`](crate::OutputOptions).
    ///
    /// If `input` is a file, its last chunk is opened first, which proves its length. Every byte is authenticated
    /// before it is written to `output`. If `input` is a stream, its end is authenticated last: until this returns
    /// `Ok`, the text that was written may be incomplete. A signature comes after the text: with `signers`, an input
    /// file is read twice when `output` is a stream, so that no text of another signer is written, not even if the
    /// file is changed meanwhile; a hash of each MiB is kept for that. An input stream can be read only once, so its
    /// text is written before this returns an error about the signature.
    ///
    /// # Errors
    /// [`Error::WrongKey`], [`Error::NoneOpens`], [`Error::KeyKind`] and [`Error::OtherKeyLength`] if no key opens the
    /// file; [`Error::WrongContext`] for other associated data than was sealed with; [`Error::TooCostly`] and
    /// [`Error::NoMemory`] for a passphrase; [`Error::NotAuthentic`] if it is damaged; [`Error::Unsupported`] if it is of
    /// a kind that this build does not read; [`Error::NotSigned`] and [`Error::OtherSigner`] if it is not signed as it must be;
    /// [`Error::IsATree`] and [`Error::IsAList`] if it holds more than one file; [`Error::Io`], [`Error::SameFile`] and
    /// [`Error::Exists`] for input and output; [`Error::Changed`] if a signed `input` was written to meanwhile;
    /// [`Error::Interrupted`]. An output file then does not appear, an existing one stays as it was.
    pub fn open(&self, mut input: Input, output: Output) -> Result<Summary, Error> {
        // Checked first: if the input is not a sealed file either, this is the more useful error.
        output.differs_from(input.identity())?;
        self.refuse_content(&mut input, Content::is_one_file)?;
        #[cfg(feature = "signatures")]
        if let Some(hashes) = self.verify_before(&input, &output)? {
            return Opening { hashes: Some(&hashes), ..self.clone() }.open_text(input, output);
        }
        self.open_text(input, output)
    }

    /// Opens all of `input` and discards the text. A sealed directory or manifest must also be well formed.
    ///
    /// # Errors
    /// Those of [`Opening::open`]; [`Flaw::Tree`]; [`Flaw::List`].
    pub fn verify(&self, mut input: Input) -> Result<Summary, Error> {
        let form = Form::of(input.preamble()?.layout.content);
        let done = self.open_text(input, Output::writer(form.clone(), "nothing"))?;
        form.finish().map(|()| done)
    }

    /// The commitment of the sealed file `input`, for a [manifest](crate::FileList). Only the header is checked, or the
    /// whole file if `signers` are given.
    ///
    /// # Errors
    /// Those of [`Opening::open`].
    pub fn commitment_of(&self, mut input: Input) -> Result<Commitment, Error> {
        #[cfg(feature = "signatures")]
        if !self.signers.is_empty() {
            return Ok(self.verify(input)?.commitment);
        }
        let preamble = input.preamble()?.clone();
        Ok(self.body_of(&mut input, &preamble)?.commitment())
    }

    /// Opens a file with any content.
    pub(crate) fn open_text(&self, mut input: Input, output: Output) -> Result<Summary, Error> {
        let preamble = input.preamble()?.clone();
        #[cfg(feature = "signatures")]
        if !preamble.layout.signed && !self.signers.is_empty() {
            return Err(Error::NotSigned);
        }
        self.work.progress.begin(input.len());
        let (identity, name) = (input.identity(), input.name.clone());
        let header = preamble.to_bytes().len();
        let body = self.body_of(&mut input, &preamble)?;
        self.work.progress.advance((header + chunk::HEADER) as u64);

        let own = input.mode();
        let mode = |preserve| own.filter(|_| preserve).unwrap_or(0o600);
        let transfer = OpenTransfer {
            body: &body,
            work: &self.work,
            #[cfg(feature = "signatures")]
            hashes: self.hashes,
            from: &name,
            to: &output.name,
        };
        let durable = matches!(&output.to, To::File { options, .. } if options.sync);
        let opened = match (&mut input.from, output.to) {
            (From::File { file, meta }, To::File { path, options }) if preamble.layout.is_plain() => {
                let text = transfer.prove_length(file, meta.len())?;
                let draft = Draft::create(&path, options)?;
                transfer.file_to_file(file, &draft, text)?;
                draft.commit(mode(options.preserve))?;
                Opened { text, laid_out: text, signer: None }
            }
            (from, To::File { path, options }) => {
                let draft = Draft::create(&path, options)?;
                let opened = transfer.unwrapped(from, &draft, self, &preamble)?;
                draft.commit(mode(options.preserve))?;
                opened
            }
            (from, To::Stream(to)) => transfer.unwrapped(from, to, self, &preamble)?,
        };
        Ok(Summary {
            text: opened.text,
            sealed: header as u64 + chunk::sealed_len(opened.laid_out),
            suite: preamble.suite,
            input: identity,
            durable,
            commitment: body.commitment(),
            signer: opened.signer,
        })
    }

    /// Reads and checks the body's header; the preamble was read already.
    pub(crate) fn body_of(&self, input: &mut Input, preamble: &Preamble) -> Result<Body, Error> {
        match &mut input.from {
            From::File { file, .. } => {
                self.begin_body(&mut Cursored { file, at: preamble.to_bytes().len() as u64 }, preamble)
            }
            From::Stream(stream) => self.begin_body(stream, preamble),
        }
        .map_err(|error| error.of(&input.name))
    }

    /// Reads the preamble and the body's header from `from`, which is then at the first chunk.
    pub(crate) fn begin(&self, from: &mut impl Read) -> Result<(Body, Preamble), Error> {
        let preamble = Preamble::read(from)?;
        Ok((self.begin_body(from, &preamble)?, preamble))
    }

    /// Reads salt and commitment from `from`. The commitment is checked before anything else of the file is used.
    fn begin_body(&self, from: &mut impl Read, preamble: &Preamble) -> Result<Body, Error> {
        let start = preamble.to_bytes().len() as u64;
        let header = read_header(from, start)?;
        let commitment = header.last_chunk().copied().unwrap_or_default();
        if self.commitment.is_some_and(|wanted| wanted != commitment) {
            return Err(Error::NotAuthentic(Flaw::OtherFile { commitment }));
        }
        let context = preamble.context();
        let open = |input_key: &Secret| {
            let opened = ChunkCipher::open(preamble.suite, self.isa, input_key, &header, &[&context, self.ad]);
            match opened {
                Err(StreamError::WrongKey) => Ok(None),
                cipher => Ok::<_, Error>(Some(Body::new(cipher?, &header, start))),
            }
        };
        if let KeySource::Recipients(slots) = &preamble.source {
            let file_key =
                file_key(slots, &recipients_fixed(preamble.suite, preamble.layout), self.keys, self.ceiling)?;
            return open(&input_key(&file_key, preamble.suite))?.ok_or(Error::WrongContext);
        }
        // Returns the most informative error: a wrong key of the right kind rather than a key of another kind.
        let mut error = Error::NoneOpens;
        for key in self.keys {
            match key.input_key(preamble.suite, &preamble.source, self.ceiling) {
                Ok(input_key) => match open(&input_key)? {
                    Some(body) => return Ok(body),
                    None => error = Error::WrongKey(if key.is_passphrase() { "passphrase" } else { "key" }),
                },
                Err(other @ (Error::KeyKind { .. } | Error::OtherKeyLength { .. })) => {
                    if matches!(error, Error::NoneOpens) {
                        error = other;
                    }
                }
                Err(other) => return Err(other),
            }
        }
        Err(error)
    }
}

/// The result: the length of the text, with and without padding and signature, and the id of the signing key.
struct Opened {
    text: u64,
    laid_out: u64,
    signer: Option<[u8; 16]>,
}

/// The transfer from one input to one output.
pub(crate) struct OpenTransfer<'a> {
    pub(crate) body: &'a Body,
    pub(crate) work: &'a Work,
    #[cfg(feature = "signatures")]
    pub(crate) hashes: Option<&'a SpanHashes>,
    pub(crate) from: &'a str,
    pub(crate) to: &'a str,
}

impl OpenTransfer<'_> {
    /// Opens the last chunk of a file of `len` bytes, which is authentic only if the text has the corresponding length.
    fn prove_length(&self, file: &File, len: u64) -> Result<u64, Error> {
        let text = self.body.text_len(len)?;
        self.body.prove_length(&mut Cursored { file, at: self.body.last_offset(text) }, text)?;
        Ok(text)
    }

    /// Opens in order, then checks and removes padding and signature.
    #[cfg_attr(not(feature = "signatures"), expect(unused_variables, reason = "only signatures need the opening"))]
    fn unwrapped(
        &self,
        from: &mut From,
        mut to: impl Write + Send,
        opening: &Opening<'_>,
        preamble: &Preamble,
    ) -> Result<Opened, Error> {
        #[cfg(feature = "signatures")]
        if preamble.layout.signed {
            let mut verifier = TextVerifier::new(to);
            let laid_out = self.unpadded(from, &mut verifier, preamble.layout)?.laid_out;
            let (fixed, commitment) = (preamble.fixed(), self.body.commitment());
            let what = Signed::Text { fixed: &fixed, commitment: &commitment };
            let (_, text, signer) = verifier.finish(opening.signers, what)?;
            return Ok(Opened { text, laid_out, signer: Some(signer) });
        }
        self.unpadded(from, &mut to, preamble.layout)
    }

    /// Opens in order, then removes the padding.
    fn unpadded(&self, from: &mut From, to: &mut (impl Write + Send), layout: Layout) -> Result<Opened, Error> {
        if !layout.padded {
            let text = self.ordered(from, to)?;
            return Ok(Opened { text, laid_out: text, signer: None });
        }
        let mut unpadder = Unpadder::new(to);
        let laid_out = self.ordered(from, &mut unpadder)?;
        let (_, text) = unpadder.finish(self.to)?;
        Ok(Opened { text, laid_out, signer: None })
    }

    /// Opens in order: a file, whose length is verified first, or a stream.
    fn ordered(&self, from: &mut From, to: &mut (impl Write + Send)) -> Result<u64, Error> {
        match from {
            From::File { file, meta } => {
                self.prove_length(file, meta.len())?;
                self.in_order(&mut Cursored { file, at: self.body.offset(0) }, to)
            }
            From::Stream(from) => self.in_order(from, to),
        }
    }

    /// Every worker reads, opens and writes spans at their positions.
    fn file_to_file(&self, from: &File, to: &Draft, text: u64) -> Result<(), Error> {
        by_position(text, self.work, |span| {
            let at = self.body.offset(span.index * span::CHUNKS as u64);
            let (wanted, index) = (span.sealed_len(), span.index);
            let got = fill(&mut Cursored { file: from, at }, span.sealed_mut(wanted)).map_err(|e| e.of(self.from))?;
            if got < wanted {
                return Err(Error::cut(at + got as u64));
            }
            span.open(self.body, wanted)?;
            let mut to = Placed { draft: to, at: index * span::PLAIN as u64 };
            write_parts(&mut to, &mut span.text()).map_err(Error::io("write", self.to))?;
            Ok(wanted as u64)
        })
    }

    /// Opens in order. Returns the length of the text.
    pub(crate) fn in_order(
        &self,
        from: &mut (impl Read + Send + ?Sized),
        to: &mut (impl Write + Send),
    ) -> Result<u64, Error> {
        let mut text = 0;
        let read = |span: &mut Span| {
            if span.index * span::CHUNKS as u64 >= chunk::MAX_CHUNKS {
                return Err(Error::TooLong);
            }
            let got = fill(from, span.sealed_mut(span::SEALED)).map_err(|e| e.of(self.from))?;
            span.last = got < span::SEALED;
            Ok(got)
        };
        let write = |span: &Span| {
            text += span.text as u64;
            write_parts(to, &mut span.text()).map_err(Error::io("write", self.to))
        };
        let open = |span: &mut Span, got| {
            span.open(self.body, got)?;
            #[cfg(feature = "signatures")]
            self.hashes.map_or(Ok(()), |hashes| hashes.check(span))?;
            Ok(())
        };
        in_order(self.work, read, open, write)?;
        to.flush().map_err(Error::io("write", self.to))?;
        Ok(text)
    }
}
