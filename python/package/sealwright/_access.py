"""Access to a local file that replaces another, as in crates/file/src/access.rs: owner, group and permission bits."""

from __future__ import annotations

import errno
import os
import stat
import struct
from contextlib import suppress
from typing import Optional

# The extended attribute that contains a file's access list (POSIX ACL), and the version at the start of its value.
_LIST = "system.posix_acl_access"
_VERSION = 2
# Tags of its entries: the permissions of the file's group, and the mask, which limits those of all groups and named users.
_GROUP_OBJ, _MASK = 0x04, 0x10
_GROUP = 0o070


def resemble(file: int, path: str, old: os.stat_result) -> None:
    """Gives the new file owner, group and permissions of the old one at `path`, as far as the system allows, and access to nobody else."""
    mode = _without_list(path, stat.S_IMODE(old.st_mode) & 0o777)
    try:
        os.fchown(file, -1, old.st_gid)
    except OSError:
        # The group differs then, and members of the old group are among the others.
        mode &= 0o700 | mode >> 3 & 0o007
    with suppress(OSError):
        os.fchmod(file, mode)
    # Last, because after giving a file away one may not change its mode.
    with suppress(OSError):
        os.fchown(file, old.st_uid, -1)


def resemble_at(new: str, path: str) -> None:
    """The same for the new file at `new`, if there is a regular file at `path`."""
    with suppress(FileNotFoundError):
        old = os.lstat(path)
        if stat.S_ISREG(old.st_mode):
            file = os.open(new, os.O_RDONLY | os.O_NOFOLLOW)
            try:
                resemble(file, path, old)
            finally:
                os.close(file)


def _without_list(path: str, mode: int) -> int:
    """The permission bits for a new file without an access list. If the old file has one, its group bits are the mask, which can permit
    more than the group itself has. If the list cannot be read or is malformed, the group gets nothing."""
    # Only Linux has this function, and these lists.
    if not mode & _GROUP or not hasattr(os, "getxattr"):
        return mode
    try:
        group = _group_in(os.getxattr(path, _LIST, follow_symlinks=False))
    except OSError as error:
        if error.errno in (errno.ENODATA, errno.ENOTSUP):
            return mode
        group = None
    return mode & (~_GROUP | (group or 0) << 3)


def _group_in(value: bytes) -> Optional[int]:
    """The permissions that a list gives the file's group."""
    entries = value[4:]
    if value[:4] != struct.pack("<I", _VERSION) or len(entries) % 8:
        return None
    found = [(tag, permissions) for tag, permissions, _ in struct.iter_unpack("<HHI", entries) if tag in (_GROUP_OBJ, _MASK)]
    given = dict(found)
    if len(given) < len(found) or _GROUP_OBJ not in given or any(each > 7 for each in given.values()):
        return None
    return int(given[_GROUP_OBJ] & given.get(_MASK, 7))
