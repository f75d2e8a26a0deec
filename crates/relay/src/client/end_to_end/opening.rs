//! The receiving half: from the sealed stream to plaintext.

use std::{
    fmt,
    io::{self, Write},
    sync::Arc,
};

use zeroize::Zeroizing;

use super::agreement::{
    DATA, ENCAPSULATED_KEY_BYTES, END, EXPORT_LABEL, EndToEndError, FIRST_MESSAGE_BYTES, MAGIC, MAGIC_WORD, RECEIPT,
    REKEY, Receiver, Shared,
};

/// Opens the sealed form of a stream.
pub struct Opening<W> {
    shared: Arc<Shared>,
    output: W,
    /// Bytes of an incomplete message.
    waiting: Vec<u8>,
    context: Option<Box<Receiver>>,
    /// The first message was processed.
    greeted: bool,
}

impl<W> fmt::Debug for Opening<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opening").finish_non_exhaustive()
    }
}

impl<W: Write> Opening<W> {
    pub(super) fn new(shared: Arc<Shared>, output: W) -> Opening<W> {
        Opening { shared, output, waiting: Vec::new(), context: None, greeted: false }
    }

    /// Takes `length` bytes, if that many have arrived.
    fn take(&mut self, length: usize) -> Option<Vec<u8>> {
        (self.waiting.len() >= length).then(|| self.waiting.drain(..length).collect())
    }

    /// Processes one message. Returns whether a complete one was there.
    fn step(&mut self) -> io::Result<bool> {
        if !self.greeted {
            let known = self.waiting.len().min(MAGIC.len());
            if self.waiting[..known] != MAGIC[..known] {
                let same_word = self.waiting.starts_with(MAGIC_WORD);
                return Err(if same_word { EndToEndError::Version } else { EndToEndError::Other }.into());
            }
            let Some(first) = self.take(FIRST_MESSAGE_BYTES) else { return Ok(false) };
            self.shared.agree(first)?;
            self.greeted = true;
            return Ok(true);
        }
        let Some(context) = &mut self.context else {
            let Some(encapsulated) = self.take(ENCAPSULATED_KEY_BYTES) else { return Ok(false) };
            let secret = self.shared.secret_to_receive()?;
            self.context = Some(Box::new(self.shared.receiver(&encapsulated, &secret)?));
            return Ok(true);
        };
        let (ended, confirmed) = {
            let state = self.shared.state();
            (state.ended, state.confirmed)
        };
        // Nothing may follow the receipt
        if !self.waiting.is_empty() && confirmed {
            return Err(EndToEndError::NotAuthentic.into());
        }
        let Some(length) = self.waiting.first_chunk::<2>().copied() else { return Ok(false) };
        let end = 2 + usize::from(u16::from_be_bytes(length));
        if self.waiting.len() < end {
            return Ok(false);
        }
        let text = Zeroizing::new(context.open(&self.waiting[2..end], &length).map_err(EndToEndError::from)?);
        self.waiting.drain(..end);
        match text.split_first() {
            // Only the receipt may follow the end
            Some((&RECEIPT, receipt)) if ended => self.shared.confirm(receipt)?,
            _ if ended => return Err(EndToEndError::NotAuthentic.into()),
            Some((&DATA, data)) => {
                self.output.write_all(data)?;
                self.shared.state().received += data.len() as u64;
            }
            Some((&END, [])) => {
                // Our receipt confirms that everything was written, so write it first
                self.output.flush()?;
                self.shared.ended();
            }
            Some((&REKEY, encapsulated)) => {
                let mut secret = Zeroizing::new([0; 64]);
                context.export(EXPORT_LABEL, &mut *secret).map_err(EndToEndError::from)?;
                self.context = Some(Box::new(self.shared.receiver(encapsulated, &secret)?));
            }
            _ => return Err(EndToEndError::NotAuthentic.into()),
        }
        Ok(true)
    }
}

impl<W: Write> Write for Opening<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.waiting.extend_from_slice(bytes);
        loop {
            match self.step() {
                Ok(true) => {}
                Ok(false) => return Ok(bytes.len()),
                Err(error) => {
                    // A failure of the output is reported by the thread that writes here, not as a failure of the
                    // stream
                    if let Some(known) = error.get_ref().and_then(|error| error.downcast_ref::<EndToEndError>()) {
                        self.shared.fail(*known);
                    }
                    return Err(error);
                }
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

impl<W> Drop for Opening<W> {
    /// No more input will come: wakes those that wait for the peer.
    fn drop(&mut self) {
        let missing = self.shared.state().missing();
        if let Some(missing) = missing {
            self.shared.fail(missing);
        }
    }
}
