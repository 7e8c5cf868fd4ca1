# SPDX-License-Identifier: MIT
"""A disk that may lose what was not synced: the operations on it in their order, and what each sync made last.

What a file or directory is, is an inode.  An operation stands in the list of the inode that an fsync() of would
bring it to the disk: data, size, mode and time in the file's, a name in that of its directory.  A rename is one
operation, of one directory or two, and is on the disk with either of them.  State k of the disk is that after the
k-th event; of the operations until then that were not synced until then, any selection may be on it.
"""
import os
import random
import stat

FILE, DIRECTORY, LINK = "file", "directory", "link"
RANDOM = 3      # selections at random after each event


class Inode:
    def __init__(self, kind, mode, data=b"", mtime=None):
        self.kind = kind
        self.mode = mode
        self.data = data        # of a link its text
        self.mtime = mtime      # None: when it is made
        self.names = {}         # of a directory
        self.operations = []
        self.known_as = set()


class Operation:
    """Of one kind on each inode of what: WRITE (offset, bytes), SIZE, MODE, MTIME or NAMES {name: inode or None}."""
    WRITE, SIZE, MODE, MTIME, NAMES = range(5)

    def __init__(self, at, kind, what, by):
        self.at = at
        self.kind = kind
        self.what = what        # {inode: value}
        self.by = by            # what was called
        self.synced_at = None

    def is_synced(self, k):
        return self.synced_at is not None and self.synced_at <= k


class Content:
    """What an inode is in one state."""

    def __init__(self, inode):
        self.data = bytearray(inode.data)
        self.mode = inode.mode
        self.mtime = inode.mtime
        self.names = dict(inode.names)

    def apply(self, kind, value):
        if kind == Operation.WRITE:
            offset, data = value
            self.data.extend(b"\0" * (offset - len(self.data)))
            self.data[offset:offset + len(data)] = data
            self.mtime = None
        elif kind == Operation.SIZE:
            del self.data[value:]
            self.data.extend(b"\0" * (value - len(self.data)))
            self.mtime = None
        elif kind == Operation.MODE:
            self.mode = value
        elif kind == Operation.MTIME:
            self.mtime = value
        else:
            for name, inode in value.items():
                if inode is None:
                    self.names.pop(name, None)
                else:
                    self.names[name] = inode


class Disk:
    """Begins with what is in the directories tops, all of it synced."""

    def __init__(self, tops):
        self.events = 0
        self.operations = []
        self.now = {}           # inode: Content, with every operation applied
        self.syncs = []         # (event, inode, events when it began, what was called)
        self.replaced = {}      # (path, inode that was renamed to it): what the file there held, and what was called
        self.tops = {}
        known = {}
        for top in tops:
            self.tops[top] = self._load(top, known)

    def _load(self, path, known):
        at = os.lstat(path)
        key = at.st_dev, at.st_ino
        if key in known:
            known[key].known_as.add(path)
            return known[key]
        if stat.S_ISDIR(at.st_mode):
            inode = Inode(DIRECTORY, stat.S_IMODE(at.st_mode), mtime=at.st_mtime_ns)
            for name in os.listdir(path):
                inode.names[name] = self._load(os.path.join(path, name), known)
        elif stat.S_ISLNK(at.st_mode):
            inode = Inode(LINK, 0, os.readlink(path).encode(), at.st_mtime_ns)
        elif stat.S_ISREG(at.st_mode):
            with open(path, "rb") as file:
                inode = Inode(FILE, stat.S_IMODE(at.st_mode), file.read(), at.st_mtime_ns)
        else:
            raise ValueError("not modelled: " + path)
        known[key] = inode
        inode.known_as.add(path)
        self.now[inode] = Content(inode)
        return inode

    # -- what happens ----------------------------------------------------------------------------------------------

    def holds(self, path):
        return any(path == top or path.startswith(top + "/") for top in self.tops)

    def find(self, path):
        """The inode at a path without links, or None."""
        for top, inode in self.tops.items():
            if path == top or path.startswith(top + "/"):
                for name in path[len(top) + 1:].split("/") if path != top else []:
                    inode = self.now[inode].names.get(name) if inode else None
                return inode
        return None

    def make(self, path, inode, by):
        self.now[inode] = Content(inode)
        self.name({path: inode}, by)

    def name(self, paths, by):
        """One operation that gives or takes names."""
        what = {}
        for path, inode in paths.items():
            before = self.find(path)
            if inode is not None and before is not None and before.kind == FILE:
                self.replaced[path, inode] = bytes(self.now[before].data), by
            directory = self.find(os.path.dirname(path))
            what.setdefault(directory, {})[os.path.basename(path)] = inode
            if inode is not None:
                inode.known_as.add(path)
        return self.change(Operation.NAMES, what, by)

    def change(self, kind, what, by):
        self.events += 1
        operation = Operation(self.events, kind, what, by)
        self.operations.append(operation)
        for inode, value in what.items():
            inode.operations.append(operation)
            self.now[inode].apply(kind, value)
        return operation

    def sync(self, inode, begun, by):
        """What had happened to the inode (None: to all) when the call began is on the disk.  A link has no sync of its
        own: it comes with its directory."""
        self.events += 1
        self.syncs.append((self.events, inode, begun, by))
        self._bring(*self.syncs[-1][:3])

    def _bring(self, event, inode, begun):
        operations = self.operations if inode is None else list(inode.operations)
        if inode is not None and inode.kind == DIRECTORY:
            for one in inode.operations:
                for link in one.what.get(inode, {}).values() if one.kind == Operation.NAMES else ():
                    operations += link.operations if link is not None and link.kind == LINK else []
        for operation in operations:
            if operation.at <= begun and operation.synced_at is None:
                operation.synced_at = event

    def forget(self, is_forgotten):
        """As if those of the syncs had not been called: is_forgotten(event, by)."""
        self.syncs = [one for one in self.syncs if not is_forgotten(one[0], one[3])]
        for operation in self.operations:
            operation.synced_at = None
        for event, inode, begun, _by in self.syncs:
            self._bring(event, inode, begun)

    # -- what may be left ------------------------------------------------------------------------------------------

    def pending(self, k):
        return [one for one in self.operations if one.at <= k and not one.is_synced(k)]

    def last(self, k):
        """What was done last, for people."""
        return next((one.by for one in reversed(self.operations) if one.at <= k), "nothing")

    def state(self, k, selected):
        """{inode: Content}.  selected: {operation: True, False, or a WRITE's bytes instead} for what is pending."""
        found = {}
        for inode in self.now:
            content = Content(inode)
            for one in inode.operations:
                if one.at > k:
                    break
                chosen = True if one.is_synced(k) else selected[one]
                if chosen is True:
                    content.apply(one.kind, one.what[inode])
                elif chosen is not False:
                    content.apply(one.kind, (one.what[inode][0], chosen))
            found[inode] = content
        return found


def selections(disk, k, seed):
    """(its kind, what of the pending operations is on the disk), the same for the same seed."""
    pending = disk.pending(k)
    names = [one for one in pending if one.kind == Operation.NAMES]
    writes = [one for one in pending if one.kind == Operation.WRITE]
    all_of = dict.fromkeys(pending, True)
    yield "nothing", dict.fromkeys(pending, False)
    yield "everything", all_of
    if names and len(names) < len(pending):
        yield "names", {one: one in names for one in pending}
        yield "data", {one: one not in names for one in pending}
    if writes:
        yield "zeros", all_of | {one: zeros(one) for one in writes}
        yield "torn", all_of | {writes[-1]: half(writes[-1])}
    if len(names) > 1:
        yield "without-first", all_of | {names[0]: False}
        yield "last", all_of | dict.fromkeys(names[:-1], False)
        yield "reversed", all_of | dict.fromkeys(names[:len(names) // 2], False)
    if len(pending) > 1:
        for i in range(RANDOM):
            rng = random.Random("%s %d %d" % (seed, k, i))
            yield "random%d" % i, {one: part(one, rng) for one in pending}


def data_of(write):
    (_offset, data), = write.what.values()
    return data


def zeros(write):
    return bytes(len(data_of(write)))


def half(write):
    return data_of(write)[:len(data_of(write)) // 2]


def part(operation, rng):
    chosen = [True, False]
    if operation.kind == Operation.WRITE:
        chosen += [zeros(operation), half(operation)]
    return rng.choice(chosen)


def walk(disk, state):
    """Each path of a state with its inode, directories before what lies in them."""
    def below(path, inode, above):
        yield path, inode
        if inode.kind == DIRECTORY and inode not in above:
            for name, child in sorted(state[inode].names.items()):
                yield from below(path + "/" + name, child, above | {inode})
    for top, inode in disk.tops.items():
        yield from below(top, inode, frozenset())


def digest(disk, state):
    """Two states with the same one are the same to whoever looks."""
    number = {}
    return tuple((path, number.setdefault(inode, len(number)), inode.kind, bytes(state[inode].data), state[inode].mode,
                  state[inode].mtime) for path, inode in walk(disk, state))


def lay_out(disk, state):
    """Into the directories that the disk was made of, which stay themselves: a store knows its root by its inode."""
    made = {}
    times = []
    for top in disk.tops:
        empty(top)
    for path, inode in walk(disk, state):
        content = state[inode]
        if path in disk.tops:
            pass
        elif inode in made:
            if inode.kind == DIRECTORY:
                raise ValueError("a directory with two names: %s, %s" % (made[inode], path))
            os.link(made[inode], path, follow_symlinks=False)
            continue
        elif inode.kind == DIRECTORY:
            os.mkdir(path, 0o700)
        elif inode.kind == LINK:
            os.symlink(bytes(content.data).decode(), path)
        else:
            with open(path, "wb") as file:
                file.write(content.data)
        made[inode] = path
        if inode.kind != LINK:
            os.chmod(path, content.mode)
        if content.mtime is not None:
            times.append((path, content.mtime))
    for path, mtime in reversed(times):
        os.utime(path, ns=(mtime, mtime), follow_symlinks=False)


def empty(top):
    for entry in list(os.scandir(top)):
        if entry.is_dir(follow_symlinks=False):
            empty(entry.path)
            os.rmdir(entry.path)
        else:
            os.unlink(entry.path)
