//! Access to a file that replaces another or is made from it: permission bits, access lists, owner and group.

use std::{
    fs::{File, Metadata},
    io,
    os::{
        fd::AsFd,
        unix::fs::{MetadataExt, fchown},
    },
    path::Path,
};

use rustix::{
    fs::{fgetxattr, getxattr, lgetxattr},
    io::Errno,
};

/// The extended attribute that contains a file's access list (POSIX ACL).
const LIST: &str = "system.posix_acl_access";
/// The version at the start of its value.
const VERSION: u32 = 2;
/// Tags of its entries: the permissions of the file's group, and the mask, which limits those of all groups and named
/// users.
const GROUP_OBJ: u16 = 0x04;
const MASK: u16 = 0x10;
/// The maximum length of an attribute's value, in bytes.
const MAX_ATTRIBUTE_LEN: usize = 64 << 10;
/// The group's permission bits.
const GROUP: u32 = 0o070;

/// The permission bits of an open file for a new file without an access list. `mode` is the mode reported by the
/// system: if there is a list, the group bits in it are the mask, which can permit more than the group itself has.
pub(crate) fn bits(file: impl AsFd, mode: u32) -> u32 {
    without_list(mode, |value| fgetxattr(&file, LIST, value))
}

/// The same for the file at `path`; a symbolic link there is not followed. If the path is too long for a system call,
/// the file is opened with `open`; to open every file would take twice as long. If somebody replaces a directory on the
/// path by a link meanwhile, the group gets no more permissions than `mode` has.
pub(crate) fn bits_at(path: &Path, mode: u32, open: impl Fn() -> rustix::io::Result<File>) -> u32 {
    without_list(mode, |value| match lgetxattr(path, LIST, &mut *value) {
        Err(Errno::NAMETOOLONG) => fgetxattr(open()?, LIST, value),
        other => other,
    })
}

/// The same of the file at `path`; links are followed. For a directory or a file that takes another's permission bits.
///
/// ```
/// use std::os::unix::fs::PermissionsExt;
///
/// let file = tempfile::NamedTempFile::new()?;
/// std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(0o640))?;
/// assert_eq!(sealwright_file::output::mode_of(file.path(), &file.as_file().metadata()?), 0o640);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn mode_of(path: &Path, metadata: &Metadata) -> u32 {
    without_list(metadata.mode(), |value| getxattr(path, LIST, value))
}

/// Reads the list only if the group has permissions at all. If it cannot be read or is malformed, the group gets none.
fn without_list(mode: u32, read: impl Fn(&mut [u8]) -> rustix::io::Result<usize>) -> u32 {
    let mode = mode & 0o777;
    if mode & GROUP == 0 {
        return mode;
    }
    let group = match read(&mut []) {
        Err(Errno::NODATA | Errno::NOTSUP) => return mode,
        Err(_) => None,
        Ok(_) => {
            let mut value = vec![0; MAX_ATTRIBUTE_LEN];
            read(&mut value).ok().and_then(|len| group_in(value.get(..len)?))
        }
    };
    mode & (!GROUP | group.unwrap_or(0) << 3)
}

/// The permissions that a list gives the file's group.
fn group_in(list: &[u8]) -> Option<u32> {
    let (entries, []) = list.strip_prefix(&VERSION.to_le_bytes())?.as_chunks::<8>() else { return None };
    let of = |tag: u16| {
        let mut found = entries.iter().filter(|entry| entry[..2] == tag.to_le_bytes());
        (found.next().map(|entry| u16::from_le_bytes([entry[2], entry[3]])), found.next().is_some())
    };
    match (of(GROUP_OBJ), of(MASK)) {
        ((Some(group @ 0..=7), false), (mask @ (None | Some(0..=7)), false)) => {
            Some(u32::from(group & mask.unwrap_or(7)))
        }
        _ => None,
    }
}

/// User and group of a file.
pub(crate) type Owner = (u32, u32);

/// Gives `file` the owner and group of the file that it replaces, or, if that is not permitted, only the group.
/// Changing the owner needs root; changing the group needs membership in it. Returns the owner and group after that.
pub(crate) fn give(file: &File, to: Owner) -> io::Result<Owner> {
    if fchown(file, Some(to.0), Some(to.1)).is_err() {
        // If this fails too, the result below shows it.
        let _ = fchown(file, None, Some(to.1));
    }
    file.metadata().map(|meta| owner(&meta))
}

/// The owner and group of a file.
pub(crate) fn owner(meta: &Metadata) -> Owner {
    (meta.uid(), meta.gid())
}

/// The permission bits `mode` for a file whose group has changed: the new group gets no more access than it had as
/// "others".
pub(crate) fn for_other_group(mode: u32) -> u32 {
    mode & (!GROUP | mode << 3)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::{fs, io::Write, os::unix::fs::PermissionsExt};

    use proptest::prelude::*;
    use rustix::fs::{XattrFlags, setxattr};

    use super::*;

    const USER_OBJ: u16 = 0x01;
    const USER: u16 = 0x02;
    const OTHER: u16 = 0x20;

    fn list(entries: &[(u16, u16)]) -> Vec<u8> {
        let mut list = VERSION.to_le_bytes().to_vec();
        for (tag, permissions) in entries {
            let id = if *tag == USER { 65_534 } else { u32::MAX };
            list.extend(tag.to_le_bytes());
            list.extend(permissions.to_le_bytes());
            list.extend(id.to_le_bytes());
        }
        list
    }

    #[test]
    fn the_group_has_what_its_entry_and_the_mask_give() {
        let of =
            |group, mask| group_in(&list(&[(USER_OBJ, 6), (USER, 6), (GROUP_OBJ, group), (MASK, mask), (OTHER, 0)]));
        assert_eq!((of(0, 6), of(6, 4), of(7, 7), of(4, 0)), (Some(0), Some(4), Some(7), Some(0)));
        assert_eq!(group_in(&list(&[(USER_OBJ, 6), (GROUP_OBJ, 4), (OTHER, 0)])), Some(4));
    }

    #[test]
    fn what_is_no_list_gives_the_group_nothing() {
        let whole = list(&[(GROUP_OBJ, 6), (MASK, 6)]);
        let other_version = [&1_u32.to_le_bytes(), &whole[4..]].concat();
        for bad in [
            other_version,
            [&whole[..], &[0]].concat(),
            list(&[(MASK, 6)]),
            list(&[(GROUP_OBJ, 6), (GROUP_OBJ, 6)]),
            list(&[(GROUP_OBJ, 6), (MASK, 6), (MASK, 6)]),
            list(&[(GROUP_OBJ, 8)]),
            list(&[(GROUP_OBJ, 6), (MASK, 8)]),
        ] {
            assert_eq!(group_in(&bad), None, "{bad:?}");
        }
        for cut in 0..whole.len() {
            assert_eq!(group_in(&whole[..cut]), (cut == 12).then_some(6), "{cut}");
        }
    }

    #[test]
    fn what_the_system_does_not_tell_gives_the_group_nothing() {
        let told = |error| without_list(0o100_664, |_| Err(error));
        assert_eq!((told(Errno::NODATA), told(Errno::NOTSUP)), (0o664, 0o664));
        assert_eq!((told(Errno::ACCESS), told(Errno::IO)), (0o604, 0o604));
        // The list became longer than the maximum between the two reads.
        assert_eq!(without_list(0o664, |value| Ok(value.len() + 1)), 0o604);
        assert_eq!(without_list(0o604, |_| panic!("without permissions there is nothing to ask for")), 0o604);
    }

    proptest! {
        /// Arbitrary bytes cause no panic, and never give the group more than `mode` does.
        #[test]
        fn bytes_of_any_kind_widen_nothing(rest in prop::collection::vec(any::<u8>(), 0..64), mode in 0_u32..0o1000) {
            for value in [rest.clone(), [&VERSION.to_le_bytes(), &rest[..]].concat()] {
                let read = |to: &mut [u8]| {
                    if let Some(to) = to.get_mut(..value.len()) { to.copy_from_slice(&value) }
                    Ok(value.len())
                };
                let bits = without_list(mode, read);
                prop_assert_eq!(bits & !mode, 0);
                prop_assert_eq!(bits & !GROUP, mode & !GROUP);
            }
        }
    }

    /// As `sealwright_transcripts` says it, which the published package lacks.
    fn skipped(why: &str) {
        eprintln!("skipped: {why}");
        if let Some(path) = std::env::var_os("SEALWRIGHT_SKIPPED") {
            let test = std::thread::current().name().unwrap_or("a test").to_owned();
            let mut file = fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
            file.write_all(format!("{test}: {why}\n").as_bytes()).unwrap();
        }
    }

    /// A file with a list whose mask is 6; `None`, with a message, if the file system has no lists.
    fn file_whose_group_may(group: u16) -> Option<tempfile::NamedTempFile> {
        let file = tempfile::NamedTempFile::new().unwrap();
        let value = list(&[(USER_OBJ, 6), (USER, 6), (GROUP_OBJ, group), (MASK, 6), (OTHER, 0)]);
        if let Err(error) = setxattr(file.path(), LIST, &value, XattrFlags::empty()) {
            skipped(&format!("no access lists here: {error}"));
            return None;
        }
        Some(file)
    }

    #[test]
    fn the_mask_of_a_file_is_not_its_group_s_mode() {
        let Some(file) = file_whose_group_may(0) else { return };
        let meta = fs::metadata(file.path()).unwrap();
        assert_eq!(meta.mode() & 0o777, 0o660);
        assert_eq!((bits(file.as_file(), meta.mode()), mode_of(file.path(), &meta)), (0o600, 0o600));
    }

    /// The list is read by path, or from the open file if the path is too long.
    #[test]
    fn the_list_of_a_file_is_found_at_a_path_of_any_length() {
        let Some(file) = file_whose_group_may(4) else { return };
        let unopened = || panic!("the path is short");
        assert_eq!(bits_at(file.path(), 0o660, unopened), 0o640);
        let long = "./".repeat(3000);
        assert_eq!(bits_at(long.as_ref(), 0o660, || Ok(file.reopen().unwrap())), 0o640);
        assert_eq!(bits_at(long.as_ref(), 0o660, || Err(Errno::ACCESS)), 0o600);
        assert_eq!(bits_at(Path::new("/no such file"), 0o660, unopened), 0o600);
    }

    #[test]
    fn another_group_gets_no_more_than_others() {
        for (mode, then) in [(0o640, 0o600), (0o644, 0o644), (0o666, 0o666), (0o664, 0o644), (0o604, 0o604)] {
            assert_eq!(for_other_group(mode), then, "{mode:o}");
        }
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_permissions(fs::Permissions::from_mode(0o640)).unwrap();
        let own = owner(&file.as_file().metadata().unwrap());
        assert_eq!(give(file.as_file(), own).unwrap(), own);
    }
}
