package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/tool"
)

// kind says what an item is made of.
type kind int

const (
	bound     kind = iota // toolhost's own file or folder
	scratch               // a folder in memory, for the process alone
	nothing               // an empty folder, or the null device in place of a file
	processes             // /proc
	device                // toolhost's own special file
)

// item is a path of the file system that the process sees. Outside, it is at the same path.
type item struct {
	path   string
	kind   kind
	access tool.Access
	folder bool
	exact  bool // its access must not be extended by that of a folder around it
	made   bool // nothing asked for it: it is a folder that is kept in place because of its contents
}

// layout holds the items that are put in place, each after the item that contains it.
type layout []item

// view is all that the process sees, by path.
type view struct {
	items map[string]item
	links map[string]string // symbolic links on the paths of items, with their targets

	folders map[string]bool        // folders on these paths that are no links
	names   map[string]fs.FileInfo // the names on which protection depends, with the files that they denote; nil: no file
}

func newView() *view {
	return &view{
		items: map[string]item{}, links: map[string]string{}, folders: map[string]bool{},
		names: map[string]fs.FileInfo{},
	}
}

// grant makes the operator's grants visible.
func (v *view) grant(cfg Config) error {
	for _, path := range cfg.Read {
		if err := v.reveal(path, tool.AccessRead); err != nil {
			return fmt.Errorf("granting that it reads %s: %w", path, err)
		}
	}
	for _, path := range cfg.Write {
		if err := v.reveal(path, tool.AccessWrite); err != nil {
			return fmt.Errorf("granting that it writes %s: %w", path, err)
		}
	}
	if cfg.Workspace != "" && (cfg.WorkspaceAccess == tool.AccessRead || cfg.WorkspaceAccess == tool.AccessWrite) {
		if err := v.reveal(cfg.Workspace, cfg.WorkspaceAccess); err != nil {
			return fmt.Errorf("granting it the workspace: %w", err)
		}
	}
	return nil
}

// reveal makes a path visible, with the links on it. If the path is visible already, the wider
// access holds.
func (v *view) reveal(path string, access tool.Access) error {
	it, err := v.resolve(path)
	if err != nil {
		return err
	}
	it.access = access
	if was, ok := v.items[it.path]; ok && was.kind == bound && was.access == tool.AccessWrite {
		it.access = tool.AccessWrite
	}
	v.items[it.path] = it
	return nil
}

// resolve follows a path component by component, records the links, and returns the path without
// links.
func (v *view) resolve(path string) (item, error) {
	const most = 1000 // components, those of links included; the kernel gives up after 40 links
	if !filepath.IsAbs(path) {
		return item{}, fmt.Errorf("the path %q is not absolute", path)
	}
	at, rest := "/", components(path)
	it := item{path: "/", folder: true}
	for step := 0; len(rest) > 0; step++ {
		if step > most {
			return item{}, fmt.Errorf("looking at %s: too many links", path)
		}
		next := filepath.Join(at, rest[0])
		rest = rest[1:]
		if v.folders[next] {
			at, it = next, item{path: next, folder: true}
			continue
		}
		info, err := os.Lstat(next)
		if err != nil {
			return item{}, err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			at, it = next, item{path: next, folder: info.IsDir()}
			v.folders[next] = info.IsDir()
			continue
		}
		target, err := os.Readlink(next)
		if err != nil {
			return item{}, err
		}
		v.links[next] = target
		if !filepath.IsAbs(target) {
			target = filepath.Join(at, target)
		}
		rest = append(components(target), rest...)
		at, it = "/", item{path: "/", folder: true}
	}
	return it, nil
}

func components(path string) []string {
	return strings.FieldsFunc(filepath.Clean(path), func(r rune) bool { return r == '/' })
}

// revealAny makes those of the paths visible that exist.
func (v *view) revealAny(paths []string, access tool.Access) error {
	for _, path := range paths {
		if err := v.reveal(path, access); err != nil && !missing(err) {
			return err
		}
	}
	return nil
}

// missing reports whether an error says that a path does not exist, or that this user has no access
// to it.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)
}

// layout returns the items to put in place. It leaves out items that a containing item shows
// already.
func (v *view) layout() layout {
	var kept layout
	placed := map[string]item{}
	for _, it := range slices.SortedFunc(maps.Values(v.items), func(a, b item) int { return comparePaths(a.path, b.path) }) {
		if outer, ok := around(placed, it.path); ok && !it.exact && it.kind == bound && outer.kind == bound &&
			(outer.access == tool.AccessWrite || outer.access == it.access) {
			continue
		}
		placed[it.path] = it
		kept = append(kept, it)
	}
	return kept
}

// around returns the nearest item that contains a path.
func around(items map[string]item, path string) (item, bool) {
	for dir := path; dir != "/"; {
		dir = filepath.Dir(dir)
		if it, ok := items[dir]; ok {
			return it, true
		}
	}
	return item{}, false
}

// comparePaths orders folders before their contents.
func comparePaths(a, b string) int { return slices.Compare(components(a), components(b)) }
