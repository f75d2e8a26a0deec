//! Sealed files with random access.

use std::{
    ffi::{c_char, c_int},
    io::{Read, Seek, SeekFrom},
};

use sealwright_file::{Opening, SealedReader, input::Positioned};

use crate::{
    error::guard,
    file::SealwrightSecret,
    pointer::{borrow, borrow_mut, bytes, bytes_mut, clear, free, give, path},
};

/// A sealed file with random access. Freed by sealwright_reader_free.
#[allow(missing_debug_implementations, reason = "C sees a pointer")]
pub struct SealwrightReader(SealedReader<Positioned>);

/// Opens a sealed file: checks the key and authenticates the length. Free the reader with sealwright_reader_free.
///
/// Returns the errors of sealwright_file_open, except those for flags and for `to`. An armored file has no random
/// access: it is SEALWRIGHT_ERROR_UNSUPPORTED.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwright_reader_new(
    path: *const c_char,
    key: *const SealwrightSecret,
    ad: *const u8,
    ad_len: usize,
    result: *mut *mut SealwrightReader,
) -> c_int {
    // SAFETY: the header says what the pointers must be.
    guard(|| unsafe {
        clear(result)?;
        let opening = Opening::new(&borrow(key, "the key")?.0).ad(bytes(ad, ad_len, "the associated data")?);
        let file = Positioned::open(self::path(path, "the path")?)?;
        give(result, SealwrightReader(SealedReader::new(file, &opening)?))
    })
}

/// The length of the text in bytes; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwright_reader_size(reader: *const SealwrightReader) -> u64 {
    // SAFETY: the header says what the pointer must be.
    unsafe { reader.as_ref() }.map_or(0, |reader| reader.0.len())
}

/// Reads at most `len` bytes of the text, from byte `at` on, into `buffer` and puts their number into `got`. There are
/// fewer than `len` only at the end of the text, and after an error. Every byte is authentic.
///
/// Returns SEALWRIGHT_ERROR_NOT_AUTHENTIC if the file was changed or cut at the place that is read, and
/// SEALWRIGHT_ERROR_IO if it cannot be read.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwright_reader_read(
    reader: *mut SealwrightReader,
    at: u64,
    buffer: *mut u8,
    len: usize,
    got: *mut usize,
) -> c_int {
    // SAFETY: the header says what the pointers must be.
    guard(|| unsafe {
        let got = borrow_mut(got, "got")?;
        *got = 0;
        let reader = &mut borrow_mut(reader, "the reader")?.0;
        let buffer = bytes_mut(buffer, len, "the buffer")?;
        reader.seek(SeekFrom::Start(at))?;
        while *got < len {
            match reader.read(&mut buffer[*got..])? {
                0 => break,
                more => *got += more,
            }
        }
        Ok(())
    })
}

/// Frees a reader and wipes its memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwright_reader_free(reader: *mut SealwrightReader) {
    // SAFETY: the header says what the pointer must be.
    unsafe { free(reader) }
}
