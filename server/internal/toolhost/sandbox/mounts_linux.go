//go:build linux && (amd64 || arm64)

package sandbox

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/toolhost/toolhost/tool"
)

const (
	readOnly = unix.MOUNT_ATTR_RDONLY
	plain    = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV
)

// rootMounts adds the calls that set up the layer Files, which is the process's own file system.
// The new root is a file system in memory, mounted over the stage. Each item of the layout is
// mounted in it, over an empty file or folder that the process makes first. made and placed follow
// the calls that were added: they say what exists in the new root at this point of the list.
type rootMounts struct {
	*callList
	layout  layout
	links   map[string]string // the symbolic links to make, with their targets
	stage   string            // see Situation.Stage
	ownProc bool              // see mechanisms.ownProc

	made   map[string]bool // folders of the new root that are in memory
	placed map[string]item // the items that are mounted already
}

func newRootMounts(calls *callList, v *view, l layout, m *mechanisms) *rootMounts {
	return &rootMounts{
		callList: calls, layout: l, links: v.links, stage: m.situation.Stage, ownProc: m.ownProc(),
		made: map[string]bool{"/": true}, placed: map[string]item{},
	}
}

// write adds the calls that make a new root with all that the process sees, and that drop
// toolhost's root. They look up all paths without following links, because another process could
// put a link there meanwhile.
func (r *rootMounts) write() {
	at := step{layer: Files, what: "making a mount namespace", optional: true}
	root := r.program.Text("/")
	r.call(at, unix.SYS_UNSHARE, unix.CLONE_NEWNS)
	r.call(at, unix.SYS_MOUNT, root, root, root, unix.MS_REC|unix.MS_PRIVATE, 0)
	stage, kind := r.program.Text(r.stage), r.program.Text("tmpfs")
	r.call(at, unix.SYS_MOUNT, kind, stage, kind, unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, r.program.Text("mode=0755,size=1m"))
	r.call(at, unix.SYS_CHDIR, stage)

	for i, it := range r.layout {
		probe := i == 0 // one check is enough: if the first mount can be made, all can
		r.makePlace(it)
		tree := r.fetch(it, probe)
		r.attach(it, tree, r.inMemory(it.path), probe)
		r.placed[it.path] = it
		r.made[it.path] = it.folder && (it.kind == scratch || it.kind == nothing)
	}
	r.makeLinks()
	r.finish()
}

// makePlace adds the calls that make the file or folder over which the item is mounted, unless an
// outer item contains it.
func (r *rootMounts) makePlace(it item) {
	outer, inside := around(r.placed, it.path)
	if inside && !r.made[outer.path] {
		return
	}
	at := step{layer: Files, what: "making a place for " + it.path}
	base, folder, names := "/", uint64(currentFolder), components(it.path)
	if !r.inMemory(it.path) { // a folder on the way belongs to others
		base, folder, names = outer.path, firstFD, components(strings.TrimPrefix(it.path, outer.path))
		r.open(at, base)
	}
	within := "."
	for i, name := range names {
		within += "/" + name
		full := filepath.Join(base, within)
		switch last := i == len(names)-1; {
		case r.made[full]:
		case !last || it.folder:
			r.call(at, unix.SYS_MKDIRAT, folder, r.program.Text(within), 0o755)
			r.made[full] = true
		default:
			r.call(at, unix.SYS_MKNODAT, folder, r.program.Text(within), unix.S_IFREG|0o444, 0)
		}
	}
	if folder == firstFD {
		r.call(at, unix.SYS_CLOSE, firstFD)
	}
}

// inMemory reports whether all folders around a path are in memory, where no other process can
// change them.
func (r *rootMounts) inMemory(path string) bool {
	for {
		outer, inside := around(r.placed, path)
		if !inside || outer.kind == bound || outer.kind == processes {
			return !inside
		}
		path = outer.path
	}
}

// open adds the call that opens a path of the new root as firstFD.
func (r *rootMounts) open(at step, path string) { r.openAt(at, "."+strings.TrimSuffix(path, "/")) }

// fetch adds the calls that make a detached mount of the item, and returns its descriptor.
func (r *rootMounts) fetch(it item, probe bool) (tree uint64) {
	at := step{layer: Files, what: "fetching " + it.path, optional: probe}
	switch {
	case it.kind == scratch:
		return r.newMount(at, "tmpfs", plain, "mode", "1777", "size", "64m", "nr_inodes", "16k")
	case it.kind == nothing && it.folder:
		return r.newMount(at, "tmpfs", plain|unix.MOUNT_ATTR_NOEXEC, "mode", "0555", "size", "64k")
	case it.kind == nothing:
		return r.clone(at, "/dev/null", readOnly|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC)
	case it.kind == device:
		return r.clone(at, it.path, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC)
	case it.kind == processes && r.ownProc:
		at.layer, at.optional = procMount, true
		return r.newMount(at, "proc", readOnly|plain|unix.MOUNT_ATTR_NOEXEC, "hidepid", "ptraceable")
	case it.kind == processes:
		return r.clone(at, it.path, readOnly|plain|unix.MOUNT_ATTR_NOEXEC)
	case it.access == tool.AccessWrite:
		return r.clone(at, it.path, attributes(it.path))
	default:
		return r.clone(at, it.path, readOnly|attributes(it.path))
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
func (r *rootMounts) clone(at step, path string, attributes uint64) (tree uint64) {
	const cloned = unix.OPEN_TREE_CLONE | unix.OPEN_TREE_CLOEXEC | unix.AT_RECURSIVE
	empty := r.program.Text("")
	if systemOwned(path) {
		tree = firstFD
		r.call(at, unix.SYS_OPEN_TREE, currentFolder, r.program.Text(path), cloned|unix.AT_SYMLINK_NOFOLLOW)
	} else {
		tree = secondFD
		first := at
		first.optional = false // a failure is one of the file
		r.openAt(first, path)
		r.call(at, unix.SYS_OPEN_TREE, firstFD, empty, cloned|unix.AT_EMPTY_PATH)
		r.call(at, unix.SYS_CLOSE, firstFD)
	}
	r.call(at, unix.SYS_MOUNT_SETATTR, tree, empty, unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, r.mountAttr(attributes), mountAttrSize)
	return tree
}

const mountAttrSize = 32 // struct mount_attr: set, clear, propagation, user namespace

func (r *rootMounts) mountAttr(set uint64) uint64 { return r.program.Words(set, 0, unix.MS_PRIVATE, 0) }

// newMount adds the calls that make a detached mount of a file system in memory. options are pairs
// of keys and values.
func (r *rootMounts) newMount(at step, kind string, attributes uint64, options ...string) (tree uint64) {
	const (
		setString, create = 1, 6 // FSCONFIG_SET_STRING, FSCONFIG_CMD_CREATE
		cloexec           = 1    // FSOPEN_CLOEXEC, FSMOUNT_CLOEXEC
	)
	r.call(at, unix.SYS_FSOPEN, r.program.Text(kind), cloexec)
	for option := range slices.Chunk(options, 2) {
		r.call(at, unix.SYS_FSCONFIG, firstFD, setString, r.program.Text(option[0]), r.program.Text(option[1]), 0)
	}
	r.call(at, unix.SYS_FSCONFIG, firstFD, create, 0, 0, 0)
	r.call(at, unix.SYS_FSMOUNT, firstFD, cloexec, attributes)
	r.call(at, unix.SYS_CLOSE, firstFD)
	return secondFD
}

// attach adds the call that puts a fetched mount in its place.
func (r *rootMounts) attach(it item, tree uint64, trusted, probe bool) {
	at := step{layer: Files, what: "putting " + it.path + " in its place", optional: probe}
	empty := r.program.Text("")
	if trusted {
		r.call(at, unix.SYS_MOVE_MOUNT, tree, empty, currentFolder, r.program.Text("."+it.path), unix.MOVE_MOUNT_F_EMPTY_PATH)
		r.call(at, unix.SYS_CLOSE, tree)
		return
	}
	place := firstFD + secondFD - tree // the free one of the two
	r.open(at, it.path)
	r.call(at, unix.SYS_MOVE_MOUNT, tree, empty, place, empty, unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
	r.call(at, unix.SYS_CLOSE, firstFD)
	r.call(at, unix.SYS_CLOSE, secondFD)
}

// makeLinks adds the calls that make the links on the paths of items, as far as no mounted item
// contains them.
func (r *rootMounts) makeLinks() {
	for _, link := range slices.SortedFunc(maps.Keys(r.links), comparePaths) {
		if _, taken := r.placed[link]; taken || r.made[link] {
			continue
		}
		if outer, inside := around(r.placed, link); inside && !r.made[outer.path] {
			continue
		}
		at := step{layer: Files, what: "making the link " + link}
		dir := ""
		for _, name := range components(filepath.Dir(link)) {
			if dir += "/" + name; !r.made[dir] {
				r.call(at, unix.SYS_MKDIRAT, currentFolder, r.program.Text("."+dir), 0o755)
				r.made[dir] = true
			}
		}
		r.call(at, unix.SYS_SYMLINKAT, r.program.Text(r.links[link]), currentFolder, r.program.Text("."+link))
	}
}

// finish adds the calls that make the parts in memory read-only for the process, enter the new
// root and drop the old one.
func (r *rootMounts) finish() {
	at := step{layer: Files, what: "finishing its root"}
	for _, it := range r.layout {
		if it.kind == nothing && it.folder {
			r.open(at, it.path)
			r.call(at, unix.SYS_MOUNT_SETATTR, firstFD, r.program.Text(""), unix.AT_EMPTY_PATH, r.mountAttr(readOnly), mountAttrSize)
			r.call(at, unix.SYS_CLOSE, firstFD)
		}
	}
	here := r.program.Text(".")
	r.call(at, unix.SYS_MOUNT_SETATTR, currentFolder, here, 0, r.mountAttr(readOnly), mountAttrSize)
	at.what, at.optional = "entering its root", true
	r.call(at, unix.SYS_PIVOT_ROOT, here, here)
	r.call(at, unix.SYS_UMOUNT2, here, unix.MNT_DETACH)
	r.call(at, unix.SYS_CHDIR, r.program.Text("/"))
}
