# SPDX-License-Identifier: MIT
"""What a command did to a disk (disk.py), as strace saw it.  Whatever might change a file on it and is not
understood here is an Untraced."""
import os
import re
import subprocess

from disk import DIRECTORY, FILE, LINK, Inode, Operation

# Understood, each by the method of its name or of the one it stands for.
CALLS = {
    "open": "openat", "openat": "openat", "openat2": "openat", "creat": "openat", "read": "read", "write": "write",
    "pread64": None, "pwrite64": "pwrite", "lseek": "lseek", "fcntl": "fcntl", "dup": "dup", "dup2": "dup",
    "dup3": "dup", "ftruncate": "truncate", "truncate": "truncate", "rename": "rename", "renameat": "rename",
    "renameat2": "rename", "link": "link", "linkat": "link", "symlink": "symlink", "symlinkat": "symlink",
    "unlink": "unlink", "unlinkat": "unlink", "rmdir": "unlink", "mkdir": "mkdir", "mkdirat": "mkdir",
    "chmod": "chmod", "fchmod": "chmod", "fchmodat": "chmod", "fchmodat2": "chmod", "utimensat": "utime",
    "fsync": "sync", "fdatasync": "sync", "syncfs": "sync_all", "sync": "sync_all", "clone": "fork", "clone3": "fork",
    "fork": "fork", "vfork": "fork", "mmap": "mmap", "ioctl": "ioctl", "io_uring_setup": "never", "io_setup": "never",
    # It starts the way to the disk, and promises nothing.
    "sync_file_range": None,
}
# They change nothing that is on a disk, whatever they are about; of owners and attributes nothing is modelled.
HARMLESS = {
    "close", "close_range", "stat", "lstat", "fstat", "newfstatat", "statx", "statfs", "fstatfs", "access", "faccessat",
    "faccessat2", "readlink", "readlinkat", "getdents", "getdents64", "fadvise64", "readahead", "flock", "getxattr",
    "lgetxattr", "fgetxattr", "listxattr", "llistxattr", "flistxattr", "inotify_add_watch", "execve", "execveat",
    "getcwd", "chdir", "fchdir", "chown", "fchown", "lchown", "fchownat", "setxattr", "lsetxattr", "fsetxattr",
    "removexattr", "lremovexattr", "fremovexattr", "umask", "poll", "ppoll", "select", "pselect6", "epoll_ctl",
    "sendmsg", "recvmsg",
}

# Of these the paths count as well, not the descriptors alone.
BY_PATH = ("mknod", "mknodat", "utime", "utimes", "futimesat", "name_to_handle_at", "mount", "umount2", "chroot",
           "pivot_root")

LINE = re.compile(r"^(\d+) +(.*)$")
CALL = re.compile(r"^(\w+)\((.*)\) += (-?\d+|0x[0-9a-f]+|\?)(.*)$")
WORD = re.compile(r'(AT_FDCWD|\d+)<((?:\\x[0-9a-f]{2})*)>|"((?:\\x[0-9a-f]{2})*)"(\.\.\.)?|\bNULL\b')
SPECIAL = re.compile(r"^(/proc/(?:self|\d+)/fd/)(\d+)$")


class Untraced(Exception):
    pass


def plain(text):
    return bytes.fromhex(text.replace("\\x", ""))


class Open:
    def __init__(self, inode, is_append):
        self.inode = inode
        self.at = 0
        self.is_append = is_append


class Call:
    """One that has returned: its words are (number, path) of descriptors, and bytes."""

    def __init__(self, pid, name, text, result, begun):
        self.pid = pid
        self.name = name
        self.text = text
        self.result = result
        self.begun = begun      # how many events there were
        self.words = []
        for match in WORD.finditer(text):
            if match.group(4):
                raise Untraced("cut: %s(%s" % (name, text[:200]))
            if match.group(1):
                self.words.append((match.group(1), os.fsdecode(plain(match.group(2)))))
            elif match.group(3) is not None:
                self.words.append(plain(match.group(3)))
            else:
                self.words.append(None)

    def paths(self, cwd):
        """Of what is named, absolute and without dots."""
        found = []
        directory = cwd
        for word in self.words:
            if isinstance(word, tuple):
                directory = word[1]
            elif word is not None:
                found.append(os.path.normpath(os.path.join(directory, os.fsdecode(word))))
                directory = cwd
        return found

    def __str__(self):
        return "%s(%s" % (self.name, WORD.sub(lambda m: (m.group(1) or "") + repr(plain(
            m.group(2) or m.group(3) or ""))[1:60], self.text)[:300])


class Tracer:
    def __init__(self, disk, cwd):
        self.disk = disk
        self.cwd = cwd
        self.tables = {}        # pid: {descriptor: Open}, shared by threads
        self.parents = {}       # pid: (pid of its parent, whether the table is shared)
        self.umask = 0o022

    def table(self, pid):
        if pid not in self.tables:
            parent, is_shared = self.parents.get(pid, (None, False))
            of_parent = self.table(parent) if parent else {}
            self.tables[pid] = of_parent if is_shared else dict(of_parent)
        return self.tables[pid]

    def of(self, call, number, path):
        """What is open there, if it is on the disk."""
        path = path.removesuffix(" (deleted)")
        if not self.disk.holds(path):
            return None
        found = self.table(call.pid).get(int(number))
        if found is None or path not in found.inode.known_as:
            raise Untraced("what is open is not known: %s" % call)
        return found

    def fd(self, call):
        return self.of(call, *call.words[0])

    def inode(self, call):
        """What a call by descriptor or path is about, or None."""
        paths = [path for path in call.paths(self.cwd)]
        if paths and SPECIAL.match(paths[0]):
            found = self.table(call.pid).get(int(SPECIAL.match(paths[0]).group(2)))
            return found.inode if found else None
        if paths:
            return self.disk.find(paths[0])
        found = self.fd(call)
        return found.inode if found else None

    # -- calls -----------------------------------------------------------------------------------------------------

    def openat(self, call):
        table = self.table(call.pid)
        path = call.paths(self.cwd)[-1]
        if not self.disk.holds(path):
            return table.pop(call.result, None)
        if "O_TMPFILE" in call.text:
            raise Untraced(str(call))
        inode = self.disk.find(path)
        if inode is None:
            if "O_CREAT" not in call.text:
                raise Untraced("not known to be there: %s" % call)
            mode = re.findall(r"\b0[0-7]+\b", call.text)
            inode = Inode(FILE, int(mode[-1], 8) & ~self.umask)
            self.disk.make(path, inode, str(call))
        elif "O_TRUNC" in call.text:
            self.disk.change(Operation.SIZE, {inode: 0}, str(call))
        table[call.result] = Open(inode, "O_APPEND" in call.text)
        return None

    def dup(self, call):
        self.copy(call, int(call.words[0][0]))

    def fcntl(self, call):
        if "F_DUPFD" in call.text:
            self.copy(call, int(call.words[0][0]))

    def copy(self, call, number):
        table = self.table(call.pid)
        table.pop(call.result, None) if number not in table else table.update({call.result: table[number]})

    def read(self, call):
        found = self.fd(call)
        if found:
            found.at += call.result

    def lseek(self, call):
        found = self.fd(call)
        if found:
            found.at = call.result

    def write(self, call):
        found = self.fd(call)
        if found:
            if found.is_append:
                found.at = len(self.disk.now[found.inode].data)
            self.put(call, found, found.at)
            found.at += call.result

    def pwrite(self, call):
        found = self.fd(call)
        if found:
            self.put(call, found, int(call.text.rsplit(",", 1)[1]))

    def put(self, call, found, offset):
        data = call.words[1][:call.result]
        if len(data) != call.result:
            raise Untraced("cut: %s" % call)
        self.disk.change(Operation.WRITE, {found.inode: (offset, data)}, str(call))

    def truncate(self, call):
        inode = self.inode(call)
        if inode:
            self.disk.change(Operation.SIZE, {inode: int(call.text.rsplit(",", 1)[1])}, str(call))

    def rename(self, call):
        old, new = call.paths(self.cwd)
        if self.disk.holds(old) != self.disk.holds(new):
            raise Untraced(str(call))
        if not self.disk.holds(old):
            return
        inode, other = self.disk.find(old), self.disk.find(new)
        if inode is None:
            raise Untraced("not known to be there: %s" % call)
        if inode is not other:
            self.disk.name({old: other if "RENAME_EXCHANGE" in call.text else None, new: inode}, str(call))

    def link(self, call):
        old, new = call.paths(self.cwd)
        if self.disk.holds(new):
            inode = self.disk.find(old)
            if inode is None:
                raise Untraced(str(call))
            self.disk.name({new: inode}, str(call))

    def symlink(self, call):
        new = call.paths(self.cwd)[-1]
        if self.disk.holds(new):
            text = next(word for word in call.words if isinstance(word, bytes))
            self.disk.make(new, Inode(LINK, 0, text), str(call))

    def unlink(self, call):
        path = call.paths(self.cwd)[0]
        if self.disk.holds(path):
            self.disk.name({path: None}, str(call))

    def mkdir(self, call):
        path = call.paths(self.cwd)[0]
        if self.disk.holds(path):
            mode = int(call.text.rsplit(",", 1)[1], 8)
            self.disk.make(path, Inode(DIRECTORY, mode & ~self.umask), str(call))

    def chmod(self, call):
        inode = self.inode(call)
        if inode:
            mode = re.findall(r"\b0[0-7]*\b", call.text)[-1]
            self.disk.change(Operation.MODE, {inode: int(mode, 8)}, str(call))

    def utime(self, call):
        inode = self.inode(call)
        times = re.findall(r"UTIME_\w+|\{tv_sec=-?\d+, tv_nsec=\d+\}", call.text)
        if inode and times[-1:] != ["UTIME_OMIT"]:
            numbers = re.findall(r"-?\d+", times[-1]) if times else []
            mtime = int(numbers[0]) * 10**9 + int(numbers[1]) if numbers else None
            self.disk.change(Operation.MTIME, {inode: mtime}, str(call))

    def sync(self, call):
        found = self.fd(call)
        if found:
            self.disk.sync(found.inode, call.begun, str(call))

    def sync_all(self, call):
        self.disk.sync(None, call.begun, str(call))

    def mmap(self, call):
        if "MAP_SHARED" in call.text and "PROT_WRITE" in call.text:
            self.not_on_disk(call)

    def ioctl(self, call):
        if re.search(r"FICLONE|FIDEDUPE", call.text):
            self.not_on_disk(call)

    def fork(self, _call):
        pass

    def never(self, call):
        raise Untraced(str(call))

    def not_on_disk(self, call):
        for word in call.words:
            if isinstance(word, tuple) and self.disk.holds(word[1]) and word[0] != "AT_FDCWD":
                raise Untraced(str(call))
        if call.name in BY_PATH and any(self.disk.holds(path) for path in call.paths(self.cwd)):
            raise Untraced(str(call))

    # -- lines -----------------------------------------------------------------------------------------------------

    def take(self, call):
        if call.name.startswith("syscall_"):
            raise Untraced("strace does not know it: %s" % call)
        if CALLS.get(call.name):
            getattr(self, CALLS[call.name])(call)
        elif call.name not in CALLS and call.name not in HARMLESS:
            self.not_on_disk(call)
        elif call.name in ("chdir", "fchdir") and call.paths(self.cwd) != [self.cwd]:
            raise Untraced(str(call))

    def read_log(self, lines):
        """Who was forked by whom is told late: read it first."""
        calls = []
        begun = {}
        for line in lines:
            pid, text = LINE.match(line).groups()
            if text.startswith(("---", "+++")):
                continue
            if text.endswith("<unfinished ...>"):
                begun[pid] = text[:-len("<unfinished ...>")].rstrip()
                calls.append((pid, None, None))
                continue
            resumed = re.match(r"<\.\.\. \w+ resumed>(.*)$", text)
            start = begun.pop(pid, "") if resumed else None
            if resumed:
                text = start + resumed.group(1)
            match = CALL.match(text)
            if not match:
                raise Untraced("not understood: " + line[:300])
            calls.append((pid, match, resumed is not None))
            if CALLS.get(match.group(1)) == "fork" and match.group(3).isdigit():
                self.parents[match.group(3)] = (pid, "CLONE_FILES" in match.group(2))
        self.play(calls)

    def play(self, calls):
        started = {}
        for pid, match, is_resumed in calls:
            self.table(pid)
            if match is None:
                started[pid] = self.disk.events
                continue
            at = started.pop(pid, None) if is_resumed else self.disk.events
            name, text, result, _rest = match.groups()
            if result == "?" or result.startswith("-"):
                continue
            self.take(Call(pid, name, text, int(result, 8 if name == "umask" else 0), at))


def trace(disk, words, cwd, log, env, timeout=60):
    """Run the words; what they did has then been done to the disk as well.  The status."""
    os.umask(0o022)
    env = dict(env, ASAN_OPTIONS="detect_leaks=0")
    done = subprocess.run(["strace", "-f", "-y", "-xx", "-v", "-qq", "-s", str(1 << 22), "-o", log, "-e", "signal=none",
                           "--"] + words, cwd=cwd, env=env,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=timeout, check=False)
    tracer = Tracer(disk, cwd)
    with open(log, encoding="ascii") as file:
        tracer.read_log(file.read().splitlines())
    return done
