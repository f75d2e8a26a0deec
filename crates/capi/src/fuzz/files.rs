//! Fuzzes whole files: a sealed file is edited, then opened and read at random positions.

use std::{
    ffi::CString,
    fs,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    ptr,
};

use sealwright_file::{Input, Opening, Output, Shared};

use super::{SUITES, next};
use crate::{
    error::SealwrightError::{
        SealwrightErrorArgument as Argument, SealwrightErrorExists as Exists, SealwrightErrorInternal as Internal,
    },
    file::*,
    reader::*,
};

/// A path in `folder`, for Rust and for C.
fn at(folder: &Path, name: &str) -> (PathBuf, CString) {
    let path = folder.join(name);
    let c = CString::new(path.as_os_str().as_bytes()).expect("no zero");
    (path, c)
}

/// Edits a file: flips bits, removes bytes, or adds bytes.
fn edit(sealed: &mut Vec<u8>, bytes: &mut &[u8]) {
    let Some([count]) = next(bytes) else { return };
    for _ in 0..count % 4 {
        let Some([kind, bits, a, b, c]) = next(bytes) else { return };
        let at = u32::from_be_bytes([0, a, b, c]) as usize % (sealed.len() + 1);
        match kind % 3 {
            0 => sealed.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= bits),
            1 => sealed.truncate(at),
            _ => sealed.insert(at, bits),
        }
    }
}

/// Seals a file in an empty folder, edits it, then opens and reads it. The result must be the same as that of the Rust
/// library in memory, and no byte may be returned that was not sealed.
pub fn files(folder: &Path, mut bytes: &[u8]) {
    let Some([choice, flags, many, a, b, ad_len]) = next(&mut bytes) else { return };
    let suite = SUITES[usize::from(choice) % SUITES.len()];
    let raw: Vec<u8> = (0..suite.key_len()).map(|at| choice.wrapping_add(at as u8)).collect();
    // Up to three chunks and a part of a fourth.
    let len = usize::from(u16::from_be_bytes([a, b])) + (usize::from(many % 4) << 16);
    let text: Vec<u8> = (0..len).map(|at| (at ^ at >> 8) as u8).collect();
    let ad = vec![many; usize::from(ad_len)];
    let armor = flags & 1 != 0;

    let ((text_path, from), (path, sealed_name), (out, to)) =
        (at(folder, "text"), at(folder, "sealed"), at(folder, "out"));
    fs::write(&text_path, &text).expect("room for it");
    let (name, mut key) = (CString::new(suite.name()).expect("no zero"), ptr::null_mut());
    // SAFETY: the pointers are of values that live until each call returns; the key is freed at the end, once.
    unsafe {
        assert_eq!(sealwright_secret_raw(raw.as_ptr(), raw.len(), &raw mut key), 0);
        let flags = if armor { SEALWRIGHT_ARMOR } else { 0 };
        let seal = |flags| {
            sealwright_file_seal(from.as_ptr(), sealed_name.as_ptr(), name.as_ptr(), key, ad.as_ptr(), ad.len(), flags)
        };
        assert_eq!((seal(flags), seal(flags), seal(flags | 4)), (0, Exists as i32, Argument as i32));
        assert_eq!(seal(flags | SEALWRIGHT_FORCE), 0);
    }
    let mut sealed = fs::read(&path).expect("it was sealed");
    edit(&mut sealed, &mut bytes);
    fs::write(&path, &sealed).expect("room for it");

    let (own, mut model) = (sealwright_file::Key::raw(raw), Shared::default());
    let opened = Opening::new(&own).ad(&ad).open(Input::bytes(sealed, "sealed"), Output::writer(model.clone(), "text"));
    let is_whole = opened.is_ok();
    assert!(!is_whole || model.take() == text, "something else was authentic");
    // SAFETY: as above.
    unsafe {
        let open = |flags| sealwright_file_open(sealed_name.as_ptr(), to.as_ptr(), key, ad.as_ptr(), ad.len(), flags);
        let code = open(0);
        assert!((code == 0) == is_whole && code != Internal as i32, "{code}: {opened:?}");
        assert_eq!(fs::read(&out).ok(), is_whole.then(|| text.clone()));
        if is_whole {
            assert_eq!((open(0), open(SEALWRIGHT_FORCE), open(SEALWRIGHT_ARMOR)), (Exists as i32, 0, Argument as i32));
        }
        read(&path, &sealed_name, key, &ad, &text, is_whole && !armor, bytes);
        sealwright_secret_free(key);
    }
}

/// Reads parts of a sealed file at random positions. Each byte that is returned must be that of the text; if the file
/// `is_whole`, every read must succeed.
///
/// # Safety
/// `key` must be a valid key.
unsafe fn read(
    path: &Path,
    name: &CString,
    key: *const SealwrightSecret,
    ad: &[u8],
    text: &[u8],
    is_whole: bool,
    mut bytes: &[u8],
) {
    let mut reader = ptr::null_mut();
    // SAFETY: as the caller promises, and all else lives until each call returns.
    unsafe {
        let code = sealwright_reader_new(name.as_ptr(), key, ad.as_ptr(), ad.len(), &raw mut reader);
        assert!((code == 0) != reader.is_null() && code != Internal as i32, "{code}: {}", path.display());
        assert!(!is_whole || code == 0, "{code}");
        if code != 0 {
            return;
        }
        assert_eq!(sealwright_reader_size(reader), text.len() as u64);
        while let Some([a, b, c, more, less]) = next(&mut bytes) {
            let at = u32::from_be_bytes([0, a, b, c]) as usize;
            let len = usize::from(u16::from_be_bytes([more, less]));
            let (mut buffer, mut got) = (vec![0xa5; len + 1], usize::MAX);
            let code = sealwright_reader_read(reader, at as u64, buffer.as_mut_ptr(), len, &raw mut got);
            let wanted = &text[at.min(text.len())..(at + len).min(text.len())];
            assert!(code == 0 || !is_whole && code != Internal as i32, "{code}");
            assert!(buffer[..got] == wanted[..got] && (code != 0 || got == wanted.len()) && buffer[len] == 0xa5);
        }
        sealwright_reader_free(reader);
    }
}
