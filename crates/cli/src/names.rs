//! File names: which files are sealed ones, how outputs are named, and what is left out.

use std::{
    ffi::OsStr,
    fs,
    os::unix::fs::{FileTypeExt, MetadataExt},
    path::{Path, PathBuf},
};

use sealwright_file::{Content, Input};
use sealwright_terminal::CommandError;

/// Whether names get or lose their extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Seal,
    Open,
}

/// The extension of sealed files.
pub(crate) const EXTENSION: &str = "seal";

/// Why `.seal`, `..seal` and `...seal` give no name for an output.
const NO_NAME: &str = "its name without .seal is not a file name";

/// Whether an output is standard output. If /dev/stdout were opened by its name, a redirected file would be written
/// from its start.
pub(crate) fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-" || path.as_os_str() == "/dev/stdout"
}

/// The system's names for standard input.
const STDIN: [&str; 3] = ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];

/// Whether an input is standard input. No output name can be derived from these names; and if a pipe were opened by one
/// of them, it would have two readers.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-" || STDIN.iter().any(|name| path.as_os_str() == *name)
}

/// Whether a file other than the text, such as a key file, is standard input: by its name, or because it is the same
/// pipe.
pub(crate) fn leads_to_stdin(path: &Path) -> bool {
    let pipe = |path: &Path| {
        let meta = fs::metadata(path).ok().filter(|meta| meta.file_type().is_fifo() || meta.file_type().is_socket())?;
        Some((meta.dev(), meta.ino()))
    };
    STDIN.iter().any(|name| path.as_os_str() == *name)
        || pipe(path).is_some_and(|pipe_of_path| pipe(Path::new(STDIN[0])) == Some(pipe_of_path))
}

/// `a` -> `a.seal`, or back; `None` if there is no extension to remove, or what remains is not a file name.
pub(crate) fn renamed(path: &Path, direction: Direction) -> Option<PathBuf> {
    match direction {
        Direction::Seal => {
            let mut name = path.as_os_str().to_owned();
            name.push(".");
            name.push(EXTENSION);
            Some(name.into())
        }
        Direction::Open => (is_sealed(path) && has_name(path)).then(|| path.with_extension("")),
    }
}

fn is_sealed(path: &Path) -> bool {
    path.extension() == Some(OsStr::new(EXTENSION))
}

/// Whether the name consists of more than dots.
fn has_name(path: &Path) -> bool {
    path.file_stem().is_some_and(|stem| stem != "." && stem != "..")
}

/// Why a directory's entry is left out. With outputs in another directory, any file may be one of the user's; in place,
/// a file that ends in .seal may be an earlier output.
pub(crate) fn left_out(
    path: &Path,
    metadata: &fs::Metadata,
    direction: Direction,
    in_place: bool,
) -> Option<&'static str> {
    if metadata.is_symlink() {
        return Some("symbolic links are not followed");
    }
    if !metadata.is_file() {
        return Some("not a regular file");
    }
    match (direction, is_sealed(path)) {
        (Direction::Seal, true) if in_place => Some("its name says it is sealed already"),
        (Direction::Open, false) => Some("its name does not end in .seal"),
        (Direction::Open, true) if !has_name(path) => Some(NO_NAME),
        _ => None,
    }
}

/// Whether a sealed file contains a directory, so that the names of the outputs are inside. An input that can be read
/// only once is assumed to, if no output name can be derived from its name.
pub(crate) fn unpacks(input: &Path, metadata: &fs::Metadata) -> bool {
    let is_tree = || Input::open(input)?.preamble().map(|preamble| preamble.layout.content == Content::Tree);
    if metadata.is_file() { is_tree().unwrap_or(false) } else { !is_sealed(input) }
}

pub(crate) fn not_seal(input: &Path) -> CommandError {
    let ends = input.as_os_str().as_encoded_bytes().ends_with(b".seal");
    let what = if ends { NO_NAME } else { "its name does not end in .seal, so the output has no name" };
    CommandError::usage(what).about(input).hint("use -o OUT")
}

/// Refuses files that have a manifest but were named individually: they are not compared with it, so that with `DIR/*`
/// instead of `DIR`, swapped files would not be detected.
pub(crate) fn refuse_files_with_manifest(inputs: &[PathBuf]) -> Result<(), CommandError> {
    match inputs.iter().find(|path| is_stdin(path) || path.exists() && !path.is_dir()) {
        Some(path) => Err(CommandError::usage("--manifest is for directories, and this is not one")
            .about(path)
            .hint("name the directory that contains it")),
        None => Ok(()),
    }
}
