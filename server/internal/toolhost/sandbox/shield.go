package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/toolhost/toolhost/tool"
)

// Protection applies to names, not files. The kernel binds a mount to a file: when another file
// takes the name by rename(2), the kernel removes the mount, and the new file is visible under that
// name. So a mount over a protected file is not enough. The view therefore shields a name as
// follows, in a folder that was granted (the grant):
//
// - If the name is below a subfolder of the grant, the whole folder around the name is shielded:
//   read-only around a protected name, and empty around a hidden one. A file that takes the name
//   later is in that folder, too.
// - If the name is directly in the grant, only the file that has the name now can be shielded. The
//   view records the name, so that package namewatch can report its change and the process is
//   ended. A secret's file must not be there, since the process could read the new file before it
//   is ended.
// - A symbolic link in the path that the process could replace is refused. So is a file with a
//   second name (hard link), by which the process could reach it.
//
// The folders between the grant and the shielded folder become mounts of themselves, which the
// process cannot rename, and the view records their names.

// ShieldError says that a name cannot be protected from a process with these grants.
type ShieldError struct {
	Path   string // the path that the operator gave
	Reason string // with a remedy
}

func (e *ShieldError) Error() string { return fmt.Sprintf("protecting %s: %s", e.Path, e.Reason) }

// Check reports whether all names can be protected from a process with the grants of a Config. If
// not, the error is a *ShieldError. New reports other faults of the grants, such as a folder that
// does not exist yet. Check reads folders.
func Check(cfg Config) error {
	if cfg.Mode == "" || cfg.Mode == ModeOff {
		return nil
	}
	v := newView()
	if v.grant(cfg) != nil {
		return nil
	}
	if refused, ok := errors.AsType[*ShieldError](v.shieldAll(cfg)); ok {
		return refused
	}
	return nil
}

// place is the end of a path.
type place struct {
	path  string      // without links; its parent folder exists
	info  fs.FileInfo // nil: nothing has this name
	links []string    // the links on the way
}

// shieldAll shields all names of a Config, outer ones first. The order ensures that no folder that
// must stay in its place is below a read-only one.
func (v *view) shieldAll(cfg Config) error {
	for _, group := range []struct {
		paths  []string
		hidden bool
	}{{cfg.Protected, false}, {cfg.Hidden, true}} {
		paths := slices.Clone(group.paths)
		slices.SortStableFunc(paths, func(a, b string) int { return len(components(a)) - len(components(b)) })
		for _, path := range paths {
			if err := v.shield(path, group.hidden); err != nil {
				return err
			}
		}
	}
	return v.shieldNames(cfg)
}

// shieldNames makes files with these names read-only that are directly in a writable folder. It
// records a name even if there is no such file.
func (v *view) shieldNames(cfg Config) error {
	for _, root := range cfg.writable() {
		it, err := v.resolve(root)
		if err != nil {
			return err
		}
		if !it.folder {
			continue
		}
		for _, name := range cfg.Names {
			path := filepath.Join(it.path, name)
			if it, granted := v.items[path]; granted && !it.exact {
				continue // the operator granted this name
			}
			info, err := os.Lstat(path)
			if err != nil {
				v.names[path] = nil
				continue
			}
			v.names[path] = info
			if info.Mode()&fs.ModeSymlink == 0 {
				v.put(item{path: path, kind: bound, access: tool.AccessRead, folder: info.IsDir()})
			}
		}
	}
	return nil
}

// writable returns the folders and files that the process may change.
func (c Config) writable() []string {
	paths := slices.Clone(c.Write)
	if c.Workspace != "" && c.WorkspaceAccess == tool.AccessWrite {
		paths = append(paths, c.Workspace)
	}
	return paths
}

// shield protects a name from changes, or hides it.
func (v *view) shield(path string, hidden bool) error {
	at, err := v.locate(path)
	if err != nil || at.path == "" {
		return err
	}
	if it, granted := v.items[at.path]; granted && !it.exact {
		if hidden || it.access != tool.AccessWrite {
			return nil // it was granted by its own name
		}
		return &ShieldError{path, "it is toolhost's own, and a plugin was granted to write it; grant another folder, or keep toolhost's files elsewhere"}
	}
	nearest, inside := around(v.items, at.path)
	if !inside || nearest.kind != bound {
		return nil
	}
	grant := v.grantOf(at.path)
	if at.info != nil && at.info.Mode().IsRegular() && hardLinks(at.info) > 1 && (hidden || grant.access == tool.AccessWrite) {
		return &ShieldError{path, fmt.Sprintf("the file has another name (a hard link), by which a plugin that was granted %s may reach it; "+
			"replace it by a copy", grant.path)}
	}
	if !hidden && nearest.access != tool.AccessWrite {
		return nil
	}
	for _, link := range at.links {
		v.names[link], _ = os.Lstat(link)
	}
	if filepath.Dir(at.path) == grant.path {
		return v.shieldInRoot(path, at, grant, hidden)
	}
	v.shieldParent(at, grant, hidden)
	return nil
}

// shieldInRoot shields a name directly in a granted folder.
func (v *view) shieldInRoot(path string, at place, grant item, hidden bool) error {
	if hidden && at.info != nil && at.info.Mode().IsRegular() {
		return &ShieldError{path, fmt.Sprintf("the file is to stay hidden and lies directly in %s, which a plugin was granted; "+
			"if it were replaced there, the plugin would see it: move it into a separate folder, or out of there", grant.path)}
	}
	v.names[at.path] = at.info
	if at.info == nil {
		return nil
	}
	shielded := item{path: at.path, kind: bound, access: tool.AccessRead, folder: at.info.IsDir()}
	if hidden {
		shielded.kind = nothing
	}
	v.put(shielded)
	return nil
}

// shieldParent shields the folder around a name, and keeps the folders around that folder in place.
func (v *view) shieldParent(at place, grant item, hidden bool) {
	parent := filepath.Dir(at.path)
	shielded := item{path: parent, kind: bound, access: tool.AccessRead, folder: true}
	switch {
	case hidden && at.info != nil:
		shielded.kind = nothing
	case hidden: // the folder stays visible, and shows files that are made in it later
		v.names[at.path] = nil
	}
	for dir := parent; dir != grant.path; dir = filepath.Dir(dir) {
		info, err := os.Lstat(dir)
		if err != nil {
			info = nil
		}
		v.names[dir] = info
		nearest, _ := around(v.items, dir)
		_, there := v.items[dir]
		switch {
		case dir == parent && (shielded.kind == nothing || nearest.access == tool.AccessWrite):
			v.put(shielded)
		case dir != parent && !there && nearest.access == tool.AccessWrite:
			v.items[dir] = item{path: dir, kind: bound, access: tool.AccessWrite, folder: true, exact: true, made: true}
		}
	}
}

// put makes an exception to the grant around a path. Hidden paths stay hidden, and paths that were
// granted by their own name stay granted.
func (v *view) put(it item) {
	if was, there := v.items[it.path]; there && (!was.exact || was.kind == nothing) {
		return
	}
	it.exact = true
	v.items[it.path] = it
}

// grantOf returns the grant that contains a path.
func (v *view) grantOf(path string) item {
	it, _ := around(v.items, path)
	for it.exact {
		it, _ = around(v.items, it.path)
	}
	return it
}

// locate follows a path to its end, or to the first name on the way that does not exist. It returns
// the zero place if it cannot look at the path.
func (v *view) locate(path string) (place, error) {
	const most = 1000 // steps; see resolve
	found := place{path: "/"}
	for at, rest := "/", components(path); len(rest) > 0; {
		next := filepath.Join(at, rest[0])
		rest = rest[1:]
		info, err := os.Lstat(next)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return place{path: next, links: found.links}, nil
		case err != nil || len(found.links) > most:
			return place{}, nil // the plugin cannot reach it either
		case info.Mode()&fs.ModeSymlink == 0:
			at, found.path, found.info = next, next, info
			continue
		}
		if nearest, inside := around(v.items, next); inside && nearest.kind == bound && nearest.access == tool.AccessWrite {
			return place{}, &ShieldError{path, fmt.Sprintf("%s is a symbolic link in %s, and a plugin that was granted to write that folder could replace the link; "+
				"name what it leads to instead", next, v.grantOf(next).path)}
		}
		target, err := os.Readlink(next)
		if err != nil {
			return place{}, nil
		}
		found.links = append(found.links, next)
		if !filepath.IsAbs(target) {
			target = filepath.Join(at, target)
		}
		at, rest = "/", append(components(target), rest...)
		found.path, found.info = "/", nil
	}
	return found, nil
}

// hardLinks returns the number of names of a file.
func hardLinks(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Nlink)
	}
	return 1
}

// sameNames reports whether all noted names denote the same files as when they were noted.
func (v *view) sameNames() bool {
	for path, was := range v.names {
		info, err := os.Lstat(path)
		if (err == nil) != (was != nil) || err == nil && !os.SameFile(was, info) {
			return false
		}
	}
	return true
}
