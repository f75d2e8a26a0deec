//! A key of any of the classes in `aead`, and what their methods do.

use std::ops::RangeInclusive;

use pyo3::{exceptions::PyValueError, prelude::*, types::PyBytes};
use sealwright::Aead;

use crate::{
    buffer::{Memory, Output, detached, room, written_bytes},
    error::{OrRaise, Raised},
};

/// A tag of every mode here, in bytes.
pub(crate) const TAG: usize = 16;

/// The name, in error messages, of an input that the output must not overlap.
pub(crate) const NONCE: &str = "the nonce";
pub(crate) const AD: &str = "the associated data";

/// A key of one of the classes below.
pub(crate) struct Keyed {
    pub(crate) aead: Box<dyn Aead>,
    /// Permitted nonce lengths in bytes, the same as in pyca/cryptography: none that is too short to be safe.
    pub(crate) nonces: RangeInclusive<usize>,
    /// Whether a repeated nonce does more harm than revealing that two messages are equal.
    pub(crate) once: bool,
}

impl Keyed {
    /// # Errors
    /// If the mode does not accept nonces of `len` bytes.
    #[inline]
    pub(crate) fn nonce(&self, len: usize) -> PyResult<()> {
        if self.nonces.contains(&len) {
            return Ok(());
        }
        let (least, most) = (self.nonces.start(), self.nonces.end());
        let wanted = if least == most { format!("{least}") } else { format!("between {least} and {most}") };
        Err(PyValueError::new_err(format!("the nonce has {len} bytes; it must have {wanted}")))
    }

    /// # Errors
    /// If one of `nonces` occurs twice and must not.
    pub(crate) fn each_once<'a>(&self, nonces: impl ExactSizeIterator<Item = &'a [u8]>) -> PyResult<()> {
        if !self.once {
            return Ok(());
        }
        let mut sorted: Vec<(&[u8], usize)> = room(nonces.len())?;
        sorted.extend(nonces.zip(0..));
        sorted.sort_unstable();
        match sorted.windows(2).find(|two| two[0].0 == two[1].0) {
            None => Ok(()),
            Some(two) => Err(PyValueError::new_err(format!(
                "messages {} and {} have the same nonce; none was encrypted, as each needs a nonce of its own",
                two[0].1, two[1].1
            ))),
        }
    }

    /// Encrypts `text` into `message` and appends the tag; without `text`, encrypts the start of `message` in place.
    #[inline]
    pub(crate) fn seal(&self, nonce: &[u8], ad: &[u8], text: Option<&[u8]>, message: &mut [u8]) -> Result<(), Raised> {
        let Some(text) = text else { return Ok(self.aead.seal_message(nonce, ad, message)?) };
        let (out, room) = message.split_at_mut(message.len() - TAG);
        room.copy_from_slice(self.aead.seal_to(nonce, ad, text, out)?.as_ref());
        Ok(())
    }

    #[inline]
    pub(crate) fn encrypt<'py>(
        &self,
        py: Python<'py>,
        nonce: &[u8],
        data: &[u8],
        ad: &[u8],
    ) -> PyResult<Bound<'py, PyBytes>> {
        self.nonce(nonce.len())?;
        let size = data.len() + ad.len();
        let seal = |message: &mut [u8]| detached(py, size, || self.seal(nonce, ad, Some(data), message));
        written_bytes(py, data.len() + TAG, seal)
    }

    #[inline]
    pub(crate) fn decrypt<'py>(
        &self,
        py: Python<'py>,
        nonce: &[u8],
        data: &[u8],
        ad: &[u8],
    ) -> PyResult<Bound<'py, PyBytes>> {
        self.nonce(nonce.len())?;
        let (ciphertext, tag) = split(data)?;
        let size = data.len() + ad.len();
        let open = |text: &mut [u8]| self.aead.open_to(nonce, ad, ciphertext, tag, text);
        written_bytes(py, ciphertext.len(), |text| detached(py, size, || open(text)).map_err(Raised::from))
    }

    pub(crate) fn encrypt_into(
        &self,
        py: Python<'_>,
        nonce: &[u8],
        data: Memory<'_>,
        ad: &[u8],
        mut buf: Output,
    ) -> PyResult<usize> {
        self.nonce(nonce.len())?;
        let len = data.len() + TAG;
        buf.expect(len)?;
        let over = buf.overlaps(data);
        let (text, front) = if over { (None, data) } else { (Some(data.bytes()), Memory::of(&[])) };
        let message = buf.begin(front, &[(nonce, NONCE), (ad, AD)])?;
        detached(py, len + ad.len(), || self.seal(nonce, ad, text, message)).raised()?;
        Ok(len)
    }

    pub(crate) fn decrypt_into(
        &self,
        py: Python<'_>,
        nonce: &[u8],
        data: Memory<'_>,
        ad: &[u8],
        mut buf: Output,
    ) -> PyResult<usize> {
        self.nonce(nonce.len())?;
        let len = data.len().checked_sub(TAG).ok_or(sealwright::OpenError).raised()?;
        buf.expect(len)?;
        if !buf.overlaps(data) {
            let (ciphertext, tag) = split(data.bytes())?;
            let text = buf.begin(Memory::of(&[]), &[(nonce, NONCE), (ad, AD)])?;
            detached(py, len + ad.len(), || self.aead.open_to(nonce, ad, ciphertext, tag, text)).raised()?;
            return Ok(len);
        }
        // The buffer overlaps the data, and possibly the tag.
        let mut kept = [0; TAG];
        kept.copy_from_slice(split(data.bytes())?.1);
        let text = buf.begin(data.first(len), &[(nonce, NONCE), (ad, AD)])?;
        detached(py, len + ad.len(), || self.aead.open_in_place(nonce, ad, text, &kept)).raised()?;
        Ok(len)
    }
}

/// Ciphertext and tag of a message.
pub(crate) fn split(message: &[u8]) -> PyResult<(&[u8], &[u8])> {
    message.len().checked_sub(TAG).map(|len| message.split_at(len)).ok_or(sealwright::OpenError).raised()
}

/// A new key of `bits` bits, if `allowed` contains that number.
pub(crate) fn generate<'py>(py: Python<'py>, bits: usize, allowed: &[usize]) -> PyResult<Bound<'py, PyBytes>> {
    if !allowed.contains(&bits) {
        let allowed: Vec<String> = allowed.iter().map(usize::to_string).collect();
        return Err(PyValueError::new_err(format!("bit_length must be {}, not {bits}", allowed.join(" or "))));
    }
    written_bytes(py, bits / 8, |key| getrandom::fill(key).map_err(Raised::from))
}
