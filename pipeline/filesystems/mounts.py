"""The file system that holds a path, as the kernel lists it: whether its locks reach other hosts, and whether
its files say when they change."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

MOUNTINFO = Path("/proc/self/mountinfo")
HINT = "Put the store on a local disk, or mount it so that the server handles locks (docs: store/promises)."

# Locks of these stay on the host that takes them, or a server grants them to everybody.
_NO_SHARED_LOCKS = frozenset(
    {"9p", "fuse.sshfs", "fuse.rclone", "fuse.s3fs", "fuse.gcsfuse", "fuse.mount-s3", "fuse.goofys",
     "fuse.blobfuse", "fuse.blobfuse2", "fuse.curlftpfs", "fuse.davfs", "davfs"}
)  # fmt: skip
_NFS = frozenset({"nolock", "local_lock=flock", "local_lock=all"})
_SMB = frozenset({"nobrl"})
_LUSTRE = frozenset({"localflock"})
_LOCAL_BY_OPTION = {"nfs": _NFS, "nfs4": _NFS, "cifs": _SMB, "smb3": _SMB, "lustre": _LUSTRE}
# Here the kernel of this machine sets the time of a change, and no program can. Not tmpfs, where a file is
# written through memory, nor overlayfs, which may lie over one. Btrfs has other devices for its files.
_WITH_CHANGE_TIMES = frozenset({"bcachefs", "ext2", "ext3", "ext4", "f2fs", "xfs", "zfs"})


@dataclass(frozen=True, slots=True)
class Mount:
    """A mounted file system: its type, such as ``nfs4``, and the options of the mount and the file system."""

    kind: str
    options: frozenset[str]


def mount_of(path: Path) -> Mount | None:
    """Return the mount that holds the path, ``None`` where the kernel does not list it (or lists none)."""
    try:
        device = path.stat().st_dev
        lines = MOUNTINFO.read_text("utf-8", "replace").splitlines()
    except OSError:
        return None
    wanted = f"{os.major(device)}:{os.minor(device)}"
    found = [line for line in lines if line.split(" ")[2:3] == [wanted] and " - " in line]
    return _mount(found[-1]) if found else None  # what was mounted last is what is seen


def _mount(line: str) -> Mount:
    """Return a line of mountinfo: numbers, root, place and options, then `` - ``, type, source, options."""
    before, _, after = line.partition(" - ")
    kind, _, rest = after.partition(" ")
    options = [*before.split(" ")[5].split(","), *rest.split(" ")[-1].split(",")]
    return Mount(kind, frozenset(options))


def local_locks(path: Path) -> str:
    """Return why locks on the path do not keep out other hosts; nothing if they do or only one host has it.

    A file system whose mount does not say (virtiofs, most of FUSE), and any on a system that does not list
    mounts so (macOS), counts as one that only this host has.
    """
    mount = mount_of(path)
    if mount is None:
        return ""
    if mount.kind in _NO_SHARED_LOCKS:
        return f"{mount.kind} has no locks that other hosts see"
    local = sorted(mount.options & _LOCAL_BY_OPTION.get(mount.kind, frozenset()))
    return f"{mount.kind} is mounted with {', '.join(local)}" if local else ""


def has_change_times(path: Path) -> bool:
    """Return whether every change of a file there gives it another time of change (``ctime``).

    Of servers, of FUSE, and where the kernel does not list mounts, nothing is known.
    """
    mount = mount_of(path)
    return mount is not None and mount.kind in _WITH_CHANGE_TIMES
