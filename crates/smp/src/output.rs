//! Files that get their name once they are whole.

use std::{io, path::Path};

use tempfile::{Builder, NamedTempFile};

/// An empty file in the folder of `path`, to be renamed to it once it is whole: see [`within`].
///
/// # Errors
/// When there is no such folder, or the file cannot be made in it.
pub fn beside(path: &Path) -> io::Result<NamedTempFile> {
    within(path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new(".")))
}

/// An empty file in `folder`, to be given its name once it is whole. Others may read it as the umask allows: results and traces are no
/// secrets.
///
/// # Errors
/// When there is no such folder, or the file cannot be made in it.
pub fn within(folder: &Path) -> io::Result<NamedTempFile> {
    folder.metadata()?;
    let mut builder = Builder::new();
    builder.prefix(".smp-");
    #[cfg(unix)]
    {
        use std::{fs::Permissions, os::unix::fs::PermissionsExt};
        builder.permissions(Permissions::from_mode(0o666)); // the umask takes its share
    }
    builder.tempfile_in(folder)
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt};

    use super::*;

    #[test]
    fn it_can_be_read_by_others_as_the_umask_allows() {
        let folder = tempfile::tempdir().unwrap();
        let (path, plain) = (folder.path().join("whole"), folder.path().join("plain"));
        fs::write(&plain, "").unwrap();
        beside(&path).unwrap().persist(&path).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&path), mode(&plain));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing else is left");
    }

    #[test]
    fn a_folder_that_is_not_there_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let error = beside(&folder.path().join("none/whole")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
