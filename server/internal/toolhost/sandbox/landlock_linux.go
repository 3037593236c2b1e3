//go:build linux && (amd64 || arm64)

package sandbox

import (
	"encoding/binary"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/toolhost/toolhost/tool"
)

// scopedSince is the version of Landlock that confines signals and abstract unix sockets.
const scopedSince = 6

// Rights on files, by the version of Landlock that introduced them.
const (
	lockRead  = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	lockWrite = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG |
		unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_SYM
	listOnly = unix.LANDLOCK_ACCESS_FS_READ_DIR
	// ofFiles are the rights that exist for files that are no folders.
	ofFiles = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_READ_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
)

// landlockVersion returns the version of Landlock's interface, or 0 if the kernel has none.
func landlockVersion() int {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(version)
}

// landlockRules adds the calls that set up the layer Landlock. If the process has its own file
// system, the rules allow what is mounted there. Otherwise the rules alone confine the process to
// its items, and carve excludes the shielded paths.
type landlockRules struct {
	*callList
	*mechanisms
	layout layout
}

// handled returns all rights on files that this kernel knows. The sandbox denies all of them except
// where rules allow them.
func (r *landlockRules) handled() uint64 {
	handled := uint64(lockRead | lockWrite)
	for _, later := range []struct {
		since int
		right uint64
	}{
		{2, unix.LANDLOCK_ACCESS_FS_REFER}, {3, unix.LANDLOCK_ACCESS_FS_TRUNCATE},
		{5, unix.LANDLOCK_ACCESS_FS_IOCTL_DEV}, {9, unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX},
	} {
		if r.abi >= later.since {
			handled |= later.right
		}
	}
	return handled
}

// write adds the calls by which the process restricts itself to its items.
func (r *landlockRules) write() {
	at := step{layer: Landlock, what: "restricting itself", optional: true}
	r.call(at, unix.SYS_LANDLOCK_CREATE_RULESET, r.ruleset(), r.rulesetSize(), 0)
	if r.mounts { // these folders hold only items
		r.writeRule("/", unix.LANDLOCK_ACCESS_FS_READ_DIR)
		if slices.ContainsFunc(r.layout, func(it item) bool { return within(it.path, "/etc") }) {
			r.writeRule("/etc", lockRead)
		}
	}
	for _, it := range r.layout {
		switch {
		case r.mounts && within(it.path, "/etc") && it.access == tool.AccessRead:
		case !r.mounts && !it.exact && it.kind == bound && len(r.layout.exceptions(it.path)) > 0:
			r.carve(it)
		case !r.mounts && it.made: // carve allows the entries one by one
		default:
			if rights := r.rights(it); rights != 0 {
				r.writeRule(it.path, rights)
			}
		}
	}
	r.call(at, unix.SYS_LANDLOCK_RESTRICT_SELF, firstFD, 0)
	r.call(at, unix.SYS_CLOSE, firstFD)
}

// ruleset returns the address of a struct landlock_ruleset_attr.
func (r *landlockRules) ruleset() uint64 {
	const tcp = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	network := uint64(0)
	if !r.cfg.Network && !r.byNamespace(Network) {
		network = tcp // a network namespace has no other network to protect
	}
	return r.program.Words(r.handled(), network, unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET|unix.LANDLOCK_SCOPE_SIGNAL)
}

// rulesetSize returns the size of the part of the struct that this kernel knows.
func (r *landlockRules) rulesetSize() uint64 {
	switch {
	case r.abi < 4:
		return 8
	case r.abi < scopedSince:
		return 16
	}
	return 24
}

// rights returns the rights on an item and on all that is in it.
func (r *landlockRules) rights(it item) uint64 {
	rights := uint64(lockRead)
	switch {
	case it.kind == nothing, it.kind == scratch && !r.mounts, it.exact && it.access == tool.AccessRead:
		return 0 // the rights of the folder around it hold
	case it.kind == processes:
		rights = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	case it.kind == device:
		rights = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	case it.access == tool.AccessWrite:
		rights = ^uint64(0)
	}
	if !it.folder {
		rights &= ofFiles
	}
	return rights & r.handled()
}

// writeRule adds the calls that allow an item. Without its own file system, the path is looked up
// in toolhost's, where another process may put a link on the way.
func (r *landlockRules) writeRule(path string, rights uint64) {
	at := step{layer: Landlock, what: "allowing itself " + path, changing: !r.mounts}
	if r.mounts || systemOwned(path) {
		r.call(at, unix.SYS_OPENAT, currentFolder, r.program.Text(path), unix.O_PATH|unix.O_CLOEXEC, 0)
	} else {
		r.openAt(at, path)
	}
	rule := binary.NativeEndian.AppendUint64(nil, rights) // struct landlock_path_beneath_attr
	rule = binary.NativeEndian.AppendUint32(rule, firstFD+1)
	r.call(at, unix.SYS_LANDLOCK_ADD_RULE, firstFD, unix.LANDLOCK_RULE_PATH_BENEATH, r.program.Bytes(rule), 0)
	r.call(at, unix.SYS_CLOSE, firstFD+1)
}
