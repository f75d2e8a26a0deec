//! The sending half: from plaintext to the sealed stream.

use std::{
    fmt,
    io::{self, Read},
    sync::Arc,
};

use zeroize::Zeroizing;

use super::agreement::{DATA, END, EXPORT_LABEL, EndToEndError, RECEIPT, REKEY, Sender, Shared};

/// Bytes of plaintext in a record.
const PIECE_BYTES: usize = 16 << 10;
const TAG: usize = 16;

enum Step {
    /// The first message is being output.
    First,
    /// Records are sealed with these keys.
    Records(Box<Sender>),
    /// The end was sent; our receipt is to follow.
    Receipt(Box<Sender>),
    /// Everything was output.
    Done,
}

/// Reads an input and returns its sealed form.
pub struct Sealing<R> {
    shared: Arc<Shared>,
    input: R,
    ready: Vec<u8>,
    at: usize,
    step: Step,
    /// Bytes of plaintext sealed with the present keys.
    since_rekey: u64,
}

pub(super) fn record(context: &mut Sender, kind: u8, data: &[u8]) -> Result<Vec<u8>, EndToEndError> {
    let plaintext = Zeroizing::new([&[kind][..], data].concat());
    let length = ((plaintext.len() + TAG) as u16).to_be_bytes();
    let sealed = context.seal(&plaintext, &length)?;
    Ok([&length[..], &sealed].concat())
}

impl<R> fmt::Debug for Sealing<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sealing").finish_non_exhaustive()
    }
}

impl<R: Read> Sealing<R> {
    pub(super) fn new(shared: Arc<Shared>, input: R) -> Sealing<R> {
        let ready = shared.ends.first.clone();
        Sealing { shared, input, ready, at: 0, step: Step::First, since_rekey: 0 }
    }

    /// Waits for the peer's first message, then makes our sending keys: returns the second message followed by an empty
    /// record that proves the keys, and the keys.
    fn second(&self) -> Result<(Vec<u8>, Sender), EndToEndError> {
        let (mut bytes, mut context) = self.shared.sender(&self.shared.secret_to_send()?)?;
        bytes.extend(record(&mut context, DATA, &[])?);
        Ok((bytes, context))
    }

    /// Returns the record that announces new keys, and those keys. The old ones are wiped.
    fn rekeyed(&self, mut context: Sender) -> Result<(Vec<u8>, Sender), EndToEndError> {
        let mut secret = Zeroizing::new([0; 64]);
        context.export(EXPORT_LABEL, &mut *secret)?;
        let (encapsulated, next) = self.shared.sender(&secret)?;
        Ok((record(&mut context, REKEY, &encapsulated)?, next))
    }

    /// Returns the next bytes of the sealed stream; none at its end.
    fn more(&mut self) -> io::Result<Vec<u8>> {
        match std::mem::replace(&mut self.step, Step::Done) {
            Step::First => {
                let (bytes, context) = self.second()?;
                self.step = Step::Records(Box::new(context));
                Ok(bytes)
            }
            Step::Records(context) if self.since_rekey >= self.shared.ends.rekey => {
                let (bytes, next) = self.rekeyed(*context)?;
                self.since_rekey = 0;
                self.step = Step::Records(Box::new(next));
                Ok(bytes)
            }
            Step::Records(mut context) => {
                let mut buffer = Zeroizing::new(vec![0; PIECE_BYTES]);
                let much = loop {
                    match self.input.read(&mut buffer) {
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                        other => break other?,
                    }
                };
                let kind = if much == 0 { END } else { DATA };
                let bytes = record(&mut context, kind, &buffer[..much])?;
                self.since_rekey += much as u64;
                let mut state = self.shared.state();
                state.sent += much as u64;
                state.end_sent = kind == END;
                self.step = if kind == END { Step::Receipt(context) } else { Step::Records(context) };
                drop(state);
                Ok(bytes)
            }
            Step::Receipt(mut context) => Ok(record(&mut context, RECEIPT, &self.shared.receipt()?)?),
            Step::Done => Ok(Vec::new()),
        }
    }
}

impl<R: Read> Read for Sealing<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.ready.len() {
            (self.ready, self.at) = (self.more()?, 0);
        }
        let much = buffer.len().min(self.ready.len() - self.at);
        buffer[..much].copy_from_slice(&self.ready[self.at..self.at + much]);
        self.at += much;
        Ok(much)
    }
}
