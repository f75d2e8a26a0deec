//! A part of the text: `--range 1000..2000`.

use std::{
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom},
    path::Path,
};

use sealwright_file::{
    Content, Error, Flaw, Opening, Output, SealedReader,
    tree::{Manifest, read_manifest},
};
use sealwright_terminal::CommandError;

use crate::{
    error::{error_of, file_error},
    plan::{FileTask, Place, Plan},
    stream,
};

/// The bytes from `from` up to, but not including, `to`, limited by the end of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    from: u64,
    to: u64,
}

/// Parses `A..B`, `A..`, `..B` or `..`.
pub(crate) fn parse(text: &str) -> Result<Range, String> {
    let wrong = || format!("`{text}` is not a range such as 1000..2000");
    let (from, to) = text.split_once("..").ok_or_else(wrong)?;
    let number = |text: &str, default| if text.is_empty() { Ok(default) } else { text.parse().map_err(|_| wrong()) };
    let range = Range { from: number(from, 0)?, to: number(to, u64::MAX)? };
    if range.from > range.to { Err(format!("`{text}` ends before it begins")) } else { Ok(range) }
}

/// Refuses an input that can be read only once, if a part of it is to be read by position.
pub(crate) fn needs_file(path: &Path, option: &str) -> Result<(), CommandError> {
    match fs::metadata(path) {
        _ if path.as_os_str() == "-" => {
            Err(CommandError::usage(format_args!("{option} needs a file, not standard input")))
        }
        Ok(meta) if !meta.is_file() && !meta.is_dir() => {
            Err(CommandError::usage(format_args!("{option} needs a regular file, because it reads only a part of it"))
                .about(path)
                .hint("copy it into one first"))
        }
        // Other errors are reported when the file is opened.
        _ => Ok(()),
    }
}

/// Removes such inputs from the plan.
pub(crate) fn refuse_streams(plan: &mut Plan, option: &str) {
    for task in std::mem::take(&mut plan.tasks) {
        match needs_file(task.input.name("-"), option) {
            Ok(()) => plan.tasks.push(task),
            Err(error) => plan.failures.push(error),
        }
    }
}

impl Range {
    /// Opens only this part: the last chunk, which authenticates the length, and the chunks that contain the part.
    pub(crate) fn write(&self, task: &FileTask, opening: &Opening<'_>, output: Output) -> Result<(), CommandError> {
        let Place::File(path) = &task.input else {
            return Err(CommandError::usage("--range needs a file, not standard input"));
        };
        let failed = |error: io::Error| match error.downcast() {
            Ok(error) => file_error(error).about_unless_named(path),
            Err(error) => CommandError::io(path, &error),
        };
        let file = File::open(path).map_err(failed)?;
        stream::refuse_input(&output, path)?;
        let mut reader =
            SealedReader::new(file, opening).map_err(|error| file_error(error).about_unless_named(path))?;
        let len = reader.len();
        // A script must not take it for a part of the text. The start of an empty text is within it.
        if self.from > 0 && self.from >= len {
            let what = format_args!("--range begins at byte {}, but the text has {len} bytes", self.from);
            return Err(CommandError::failed(what).about(path).hint("bytes are counted from 0"));
        }
        reader.seek(SeekFrom::Start(self.from)).map_err(failed)?;
        output
            .write_all_of(&mut reader.take(self.to - self.from))
            .map_err(|error| file_error(error).about_unless_named(path))
    }
}

/// Opens one file in a sealed directory.
pub(crate) fn write_entry(
    entry: &Path,
    task: &FileTask,
    opening: &Opening<'_>,
    output: Output,
) -> Result<(), CommandError> {
    let Place::File(path) = &task.input else {
        return Err(CommandError::usage("--entry needs a file, not standard input"));
    };
    let named = |error| file_error(error).about_unless_named(path);
    stream::refuse_input(&output, path)?;
    let (manifest, mut reader) = manifest(path, opening)?;
    let (at, len) = manifest.find(entry).ok_or_else(|| named(Error::NoEntry(entry.into())))?;
    reader.seek(SeekFrom::Start(at)).map_err(|error| CommandError::io(path, &error))?;
    output.write_all_of(&mut reader.take(len)).map_err(named)
}

/// Reads the manifest of a sealed directory; returns it and a reader of the text.
pub(crate) fn manifest(path: &Path, opening: &Opening<'_>) -> Result<(Manifest, SealedReader<File>), CommandError> {
    let named = |error| error_of(error, path);
    let file = File::open(path).map_err(|error| CommandError::io(path, &error))?;
    let mut reader = SealedReader::of_any_content(file, opening).map_err(named)?;
    if reader.preamble().layout.content != Content::Tree {
        return Err(named(Error::NotATree));
    }
    let manifest = read_manifest(&mut reader).map_err(named)?;
    // Otherwise reading contents would end early without an error.
    let head = reader.stream_position().map_err(|error| CommandError::io(path, &error))?;
    if reader.len().checked_sub(head) != Some(manifest.content_len()) {
        return Err(named(Error::NotAuthentic(Flaw::Tree)));
    }
    Ok((manifest, reader))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use sealwright_file::{Input, Key, OutputOptions, Sealing, tree};

    use super::*;

    /// Whoever has the key can seal a manifest that lists more content than the text contains.
    #[test]
    fn a_manifest_is_held_against_the_text() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(from.path().join("a"), "a text").unwrap();
        let (key, sealed) = (Key::raw([7; 32]), to.path().join("sealed"));
        let sealing = Sealing::new(&key).content(Content::Tree);
        let seal = |input| {
            let output = Output::file(&sealed, OutputOptions::default().force(true)).unwrap();
            sealing.seal(input, output).unwrap();
        };
        seal(tree::pack(from.path()).unwrap().input);
        let (_, mut reader) = manifest(&sealed, &Opening::new(&key)).unwrap();
        let mut text = Vec::new();
        reader.rewind().unwrap();
        reader.read_to_end(&mut text).unwrap();
        for wrong in [text[..text.len() - 1].to_vec(), [&text[..], b"x"].concat()] {
            seal(Input::bytes(wrong, "text"));
            let error = manifest(&sealed, &Opening::new(&key)).map(drop).unwrap_err();
            assert_eq!(error.exit() as u8, 3, "{error}");
        }
    }

    #[test]
    fn ends_may_be_left_out() {
        let range = |from, to| Range { from, to };
        assert_eq!(parse("10..20").unwrap(), range(10, 20));
        assert_eq!(parse("10..").unwrap(), range(10, u64::MAX));
        assert_eq!(parse("..20").unwrap(), range(0, 20));
        assert_eq!(parse("..").unwrap(), range(0, u64::MAX));
        for text in ["", "10", "20..10", "a..b", "1..2..3", "-1..2", "1...2"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
