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

// handled returns all rights on files that this kernel knows. The sandbox denies all of them except
// where rules allow them.
func (p *Plan) handled() uint64 {
	handled := uint64(lockRead | lockWrite)
	for _, later := range []struct {
		since int
		right uint64
	}{
		{2, unix.LANDLOCK_ACCESS_FS_REFER}, {3, unix.LANDLOCK_ACCESS_FS_TRUNCATE},
		{5, unix.LANDLOCK_ACCESS_FS_IOCTL_DEV}, {9, unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX},
	} {
		if p.abi >= later.since {
			handled |= later.right
		}
	}
	return handled
}

// writeLandlock adds the calls by which the process restricts itself to its items.
func (p *Plan) writeLandlock() {
	at := step{layer: Landlock, what: "restricting itself", optional: true}
	p.call(at, unix.SYS_LANDLOCK_CREATE_RULESET, p.ruleset(), p.rulesetSize(), 0)
	if p.mounts { // these folders hold only items
		p.writeRule("/", unix.LANDLOCK_ACCESS_FS_READ_DIR)
		if slices.ContainsFunc(p.layout, func(it item) bool { return within(it.path, "/etc") }) {
			p.writeRule("/etc", lockRead)
		}
	}
	for _, it := range p.layout {
		switch {
		case p.mounts && within(it.path, "/etc") && it.access == tool.AccessRead:
		case !p.mounts && !it.exact && it.kind == bound && len(p.exceptions(it.path)) > 0:
			p.carve(it)
		case !p.mounts && it.made: // carve allows the entries one by one
		default:
			if rights := p.rights(it); rights != 0 {
				p.writeRule(it.path, rights)
			}
		}
	}
	p.call(at, unix.SYS_LANDLOCK_RESTRICT_SELF, firstFD, 0)
	p.call(at, unix.SYS_CLOSE, firstFD)
}

// ruleset returns the address of a struct landlock_ruleset_attr.
func (p *Plan) ruleset() uint64 {
	const tcp = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	network := uint64(0)
	if !p.cfg.Network && !p.byNamespace(Network) {
		network = tcp // a network namespace has no other network to protect
	}
	return p.program.Words(p.handled(), network, unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET|unix.LANDLOCK_SCOPE_SIGNAL)
}

// rulesetSize returns the size of the part of the struct that this kernel knows.
func (p *Plan) rulesetSize() uint64 {
	switch {
	case p.abi < 4:
		return 8
	case p.abi < scopedSince:
		return 16
	}
	return 24
}

// rights returns the rights on an item and on all that is in it.
func (p *Plan) rights(it item) uint64 {
	rights := uint64(lockRead)
	switch {
	case it.kind == nothing, it.kind == scratch && !p.mounts, it.exact && it.access == tool.AccessRead:
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
	return rights & p.handled()
}

// writeRule adds the calls that allow an item. Without its own file system, the path is looked up
// in toolhost's, where another process may put a link on the way.
func (p *Plan) writeRule(path string, rights uint64) {
	at := step{layer: Landlock, what: "allowing itself " + path, changing: !p.mounts}
	if p.mounts || systemOwned(path) {
		p.call(at, unix.SYS_OPENAT, currentFolder, p.program.Text(path), unix.O_PATH|unix.O_CLOEXEC, 0)
	} else {
		const size = 24 // struct open_how: flags, mode, resolve
		how := p.program.Words(unix.O_PATH|unix.O_CLOEXEC, 0, unix.RESOLVE_NO_SYMLINKS)
		p.call(at, unix.SYS_OPENAT2, currentFolder, p.program.Text(path), how, size)
	}
	rule := binary.NativeEndian.AppendUint64(nil, rights) // struct landlock_path_beneath_attr
	rule = binary.NativeEndian.AppendUint32(rule, firstFD+1)
	p.call(at, unix.SYS_LANDLOCK_ADD_RULE, firstFD, unix.LANDLOCK_RULE_PATH_BENEATH, p.program.Bytes(rule), 0)
	p.call(at, unix.SYS_CLOSE, firstFD+1)
}
