//go:build linux && (amd64 || arm64)

package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"

	"github.com/toolhost/toolhost/tool"
)

// mostCarved bounds the folder entries for which Landlock gets a rule. Each takes three system
// calls of the entry program.
const mostCarved = 1000

// exceptions returns the shielded paths in a granted folder, and the folders on the way to them.
func (l layout) exceptions(root string) map[string]item {
	found := map[string]item{}
	for _, it := range l {
		if !it.exact || it.made || it.kind != bound && it.kind != nothing || !within(it.path, root) || it.path == root ||
			within(it.path, "/proc") { // its entries are processes, which start and end
			continue
		}
		found[it.path] = it
		for dir := filepath.Dir(it.path); dir != root; dir = filepath.Dir(dir) {
			if _, there := found[dir]; !there {
				found[dir] = item{path: dir, folder: true, made: true}
			}
		}
	}
	return found
}

// carvedRoots returns the granted folders whose entries are allowed one by one.
func (l layout) carvedRoots(access tool.Access) []string {
	var roots []string
	for _, it := range l {
		if it.kind == bound && !it.exact && it.access == access && len(l.exceptions(it.path)) > 0 {
			roots = append(roots, it.path)
		}
	}
	return roots
}

// carve allows a folder without the shielded paths in it. Landlock has no exceptions: a right on a
// folder applies to everything in it, now and later. So the process gets only the right to read the
// folder itself, or to list it if something in it is hidden. carve allows each entry that is not
// shielded separately. A file that takes a shielded name later gets no right.
func (r *landlockRules) carve(root item) {
	exceptions := r.layout.exceptions(root.path)
	outside := uint64(lockRead)
	for _, it := range exceptions {
		if it.kind == nothing {
			outside = listOnly
		}
	}
	r.writeRule(root.path, outside&r.handled())
	left := mostCarved
	r.carveFolder(root.path, root, exceptions, &left)
}

func (r *landlockRules) carveFolder(dir string, root item, exceptions map[string]item, left *int) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // what toolhost cannot list is not granted
	}
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		it, excepted := exceptions[path]
		switch {
		case entry.Type()&fs.ModeSymlink != 0: // the target of the link counts
		case *left == 0:
			return
		case !excepted:
			*left--
			if rights := r.rights(item{path: path, kind: bound, access: root.access, folder: entry.IsDir()}); rights != 0 {
				r.writeRule(path, rights)
			}
		case it.made:
			r.carveFolder(path, root, exceptions, left)
		case it.kind == bound:
			*left--
			r.writeRule(path, r.rights(item{path: path, kind: bound, access: tool.AccessRead, folder: it.folder}))
		}
	}
}
