//go:build linux && (amd64 || arm64)

package sandbox

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/toolhost/toolhost/internal/plugin/sandbox/entry"
	"github.com/toolhost/toolhost/tool"
)

// Descriptors that calls open, each the lowest free number.
const (
	firstFD  = entry.StatusFD + 1
	secondFD = firstFD + 1
)

// currentFolder is AT_FDCWD as an argument.
const currentFolder = 1<<64 - 100

const (
	readOnly = unix.MOUNT_ATTR_RDONLY
	plain    = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV
)

// writeMounts adds the calls that make a new root with all that the process sees, and that drop
// toolhost's root. They look up all paths without following links, because another process could
// put a link there meanwhile.
func (p *Plan) writeMounts() {
	at := step{layer: Files, what: "making a mount namespace", optional: true}
	root := p.program.Text("/")
	p.call(at, unix.SYS_UNSHARE, unix.CLONE_NEWNS)
	p.call(at, unix.SYS_MOUNT, root, root, root, unix.MS_REC|unix.MS_PRIVATE, 0)
	stage, kind := p.program.Text(p.situation.Stage), p.program.Text("tmpfs")
	p.call(at, unix.SYS_MOUNT, kind, stage, kind, unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, p.program.Text("mode=0755,size=1m"))
	p.call(at, unix.SYS_CHDIR, stage)

	made := map[string]bool{"/": true} // folders of the new root that are in memory
	placed := map[string]item{}
	for i, it := range p.layout {
		probe := i == 0 // one check is enough: if the first mount can be made, all can
		p.makePlace(it, made, placed)
		tree := p.fetch(it, probe)
		p.attach(it, tree, inMemory(placed, it.path), probe)
		placed[it.path] = it
		made[it.path] = it.folder && (it.kind == scratch || it.kind == nothing)
	}
	p.makeLinks(made, placed)
	p.finishRoot()
}

// makePlace adds the calls that make the file or folder over which the item is mounted, unless an
// outer item contains it.
func (p *Plan) makePlace(it item, made map[string]bool, placed map[string]item) {
	outer, inside := around(placed, it.path)
	if inside && !made[outer.path] {
		return
	}
	at := step{layer: Files, what: "making a place for " + it.path}
	base, folder, names := "/", uint64(currentFolder), components(it.path)
	if !inMemory(placed, it.path) { // a folder on the way belongs to others
		base, folder, names = outer.path, firstFD, components(strings.TrimPrefix(it.path, outer.path))
		p.open(at, base)
	}
	within := "."
	for i, name := range names {
		within += "/" + name
		full := filepath.Join(base, within)
		switch last := i == len(names)-1; {
		case made[full]:
		case !last || it.folder:
			p.call(at, unix.SYS_MKDIRAT, folder, p.program.Text(within), 0o755)
			made[full] = true
		default:
			p.call(at, unix.SYS_MKNODAT, folder, p.program.Text(within), unix.S_IFREG|0o444, 0)
		}
	}
	if folder == firstFD {
		p.call(at, unix.SYS_CLOSE, firstFD)
	}
}

// inMemory reports whether all folders around a path are in memory, where no other process can
// change them.
func inMemory(placed map[string]item, path string) bool {
	for {
		outer, inside := around(placed, path)
		if !inside || outer.kind == bound || outer.kind == processes {
			return !inside
		}
		path = outer.path
	}
}

// open adds the call that opens a path of the new root as firstFD.
func (p *Plan) open(at step, path string) { p.openAt(at, "."+strings.TrimSuffix(path, "/")) }

func (p *Plan) openAt(at step, path string) {
	const size = 24 // struct open_how: flags, mode, resolve
	how := p.program.Words(unix.O_PATH|unix.O_CLOEXEC, 0, unix.RESOLVE_NO_SYMLINKS)
	p.call(at, unix.SYS_OPENAT2, currentFolder, p.program.Text(path), how, size)
}

// fetch adds the calls that make a detached mount of the item, and returns its descriptor.
func (p *Plan) fetch(it item, probe bool) (tree uint64) {
	at := step{layer: Files, what: "fetching " + it.path, optional: probe}
	switch {
	case it.kind == scratch:
		return p.newMount(at, "tmpfs", plain, "mode", "1777", "size", "64m", "nr_inodes", "16k")
	case it.kind == nothing && it.folder:
		return p.newMount(at, "tmpfs", plain|unix.MOUNT_ATTR_NOEXEC, "mode", "0555", "size", "64k")
	case it.kind == nothing:
		return p.clone(at, "/dev/null", readOnly|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC)
	case it.kind == device:
		return p.clone(at, it.path, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC)
	case it.kind == processes && p.ownProc():
		at.layer, at.optional = procMount, true
		return p.newMount(at, "proc", readOnly|plain|unix.MOUNT_ATTR_NOEXEC, "hidepid", "ptraceable")
	case it.kind == processes:
		return p.clone(at, it.path, readOnly|plain|unix.MOUNT_ATTR_NOEXEC)
	case it.access == tool.AccessWrite:
		return p.clone(at, it.path, attributes(it.path))
	default:
		return p.clone(at, it.path, readOnly|attributes(it.path))
	}
}

// attributes returns the mount attributes for an item's access. Device files work only if they were
// granted themselves.
func attributes(path string) uint64 {
	if within(path, "/dev") {
		return unix.MOUNT_ATTR_NOSUID
	}
	return plain
}

// clone adds the call that makes a detached mount of a path of the old root, with all mounts in it.
func (p *Plan) clone(at step, path string, attributes uint64) (tree uint64) {
	const cloned = unix.OPEN_TREE_CLONE | unix.OPEN_TREE_CLOEXEC | unix.AT_RECURSIVE
	empty := p.program.Text("")
	if systemOwned(path) {
		tree = firstFD
		p.call(at, unix.SYS_OPEN_TREE, currentFolder, p.program.Text(path), cloned|unix.AT_SYMLINK_NOFOLLOW)
	} else {
		tree = secondFD
		first := at
		first.optional = false // a failure is one of the file
		p.openAt(first, path)
		p.call(at, unix.SYS_OPEN_TREE, firstFD, empty, cloned|unix.AT_EMPTY_PATH)
		p.call(at, unix.SYS_CLOSE, firstFD)
	}
	p.call(at, unix.SYS_MOUNT_SETATTR, tree, empty, unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, p.mountAttr(attributes), mountAttrSize)
	return tree
}

// systemOwned reports whether only the system's owner can put a link on the way to a path.
func systemOwned(path string) bool {
	return inSystem(path) || within(path, "/etc") || within(path, "/dev") || path == "/proc"
}

const mountAttrSize = 32 // struct mount_attr: set, clear, propagation, user namespace

func (p *Plan) mountAttr(set uint64) uint64 { return p.program.Words(set, 0, unix.MS_PRIVATE, 0) }

// newMount adds the calls that make a detached mount of a file system in memory. options are pairs
// of keys and values.
func (p *Plan) newMount(at step, kind string, attributes uint64, options ...string) (tree uint64) {
	const (
		setString, create = 1, 6 // FSCONFIG_SET_STRING, FSCONFIG_CMD_CREATE
		cloexec           = 1    // FSOPEN_CLOEXEC, FSMOUNT_CLOEXEC
	)
	p.call(at, unix.SYS_FSOPEN, p.program.Text(kind), cloexec)
	for option := range slices.Chunk(options, 2) {
		p.call(at, unix.SYS_FSCONFIG, firstFD, setString, p.program.Text(option[0]), p.program.Text(option[1]), 0)
	}
	p.call(at, unix.SYS_FSCONFIG, firstFD, create, 0, 0, 0)
	p.call(at, unix.SYS_FSMOUNT, firstFD, cloexec, attributes)
	p.call(at, unix.SYS_CLOSE, firstFD)
	return secondFD
}

// attach adds the call that puts a fetched mount in its place.
func (p *Plan) attach(it item, tree uint64, trusted, probe bool) {
	at := step{layer: Files, what: "putting " + it.path + " in its place", optional: probe}
	empty := p.program.Text("")
	if trusted {
		p.call(at, unix.SYS_MOVE_MOUNT, tree, empty, currentFolder, p.program.Text("."+it.path), unix.MOVE_MOUNT_F_EMPTY_PATH)
		p.call(at, unix.SYS_CLOSE, tree)
		return
	}
	place := firstFD + secondFD - tree // the free one of the two
	p.open(at, it.path)
	p.call(at, unix.SYS_MOVE_MOUNT, tree, empty, place, empty, unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
	p.call(at, unix.SYS_CLOSE, firstFD)
	p.call(at, unix.SYS_CLOSE, secondFD)
}

// makeLinks adds the calls that make the links on the paths of items, as far as no mounted item
// contains them.
func (p *Plan) makeLinks(made map[string]bool, placed map[string]item) {
	for _, link := range slices.SortedFunc(maps.Keys(p.view.links), comparePaths) {
		if _, taken := placed[link]; taken || made[link] {
			continue
		}
		if outer, inside := around(placed, link); inside && !made[outer.path] {
			continue
		}
		at := step{layer: Files, what: "making the link " + link}
		dir := ""
		for _, name := range components(filepath.Dir(link)) {
			if dir += "/" + name; !made[dir] {
				p.call(at, unix.SYS_MKDIRAT, currentFolder, p.program.Text("."+dir), 0o755)
				made[dir] = true
			}
		}
		p.call(at, unix.SYS_SYMLINKAT, p.program.Text(p.view.links[link]), currentFolder, p.program.Text("."+link))
	}
}

// finishRoot adds the calls that make the parts in memory read-only for the process, enter the new
// root and drop the old one.
func (p *Plan) finishRoot() {
	at := step{layer: Files, what: "finishing its root"}
	for _, it := range p.layout {
		if it.kind == nothing && it.folder {
			p.open(at, it.path)
			p.call(at, unix.SYS_MOUNT_SETATTR, firstFD, p.program.Text(""), unix.AT_EMPTY_PATH, p.mountAttr(readOnly), mountAttrSize)
			p.call(at, unix.SYS_CLOSE, firstFD)
		}
	}
	here := p.program.Text(".")
	p.call(at, unix.SYS_MOUNT_SETATTR, currentFolder, here, 0, p.mountAttr(readOnly), mountAttrSize)
	at.what, at.optional = "entering its root", true
	p.call(at, unix.SYS_PIVOT_ROOT, here, here)
	p.call(at, unix.SYS_UMOUNT2, here, unix.MNT_DETACH)
	p.call(at, unix.SYS_CHDIR, p.program.Text("/"))
}
