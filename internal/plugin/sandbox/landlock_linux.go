//go:build linux && (amd64 || arm64)

package sandbox

import (
	"encoding/binary"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/toolhost/toolhost/tool"
)

// scopedSince is the version of Landlock that keeps signals and abstract unix sockets apart.
const scopedSince = 6

// What may be done with files, by the version of Landlock that knows of it.
const (
	lockRead  = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	lockWrite = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG |
		unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_SYM
	listOnly = unix.LANDLOCK_ACCESS_FS_READ_DIR
	// ofFiles is what can be said of what is no folder.
	ofFiles = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_READ_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
)

// landlockVersion returns the version of Landlock's interface, or 0 if there is none.
func landlockVersion() int {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(version)
}

// handled returns what files are protected from, which is all that this kernel knows.
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

// writeLandlock lets the process restrict itself to the paths that it sees.
func (p *Plan) writeLandlock() {
	at := step{layer: Landlock, what: "restricting itself", optional: true}
	p.call(at, unix.SYS_LANDLOCK_CREATE_RULESET, p.ruleset(), p.rulesetSize(), 0)
	if p.mounts { // in these folders there is nothing but what is to be seen
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
		case !p.mounts && it.made: // carve allows what is in it
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
		network = tcp // in a namespace of its own there is nobody to be kept from
	}
	return p.program.Words(p.handled(), network, unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET|unix.LANDLOCK_SCOPE_SIGNAL)
}

// rulesetSize returns how much of it this kernel knows.
func (p *Plan) rulesetSize() uint64 {
	switch {
	case p.abi < 4:
		return 8
	case p.abi < scopedSince:
		return 16
	}
	return 24
}

// rights returns what may be done with an item, and with what is in it.
func (p *Plan) rights(it item) uint64 {
	rights := uint64(lockRead)
	switch {
	case it.kind == nothing, it.kind == scratch && !p.mounts, it.exact && it.access == tool.AccessRead:
		return 0 // what holds around it has to do
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

// writeRule allows what is at a path. Without a file system of its own, the path is that of toolhost's, in which somebody may
// put a link in the way.
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
