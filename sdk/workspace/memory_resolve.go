package workspace

import (
	"io/fs"
	"path"
	"strings"
	"syscall"
)

// place is the position that a name leads to.
type place struct {
	folder *node // the folder that has it; nil for the workspace itself
	base   string
	node   *node // nil if nothing exists there
}

// resolve follows a name element by element, including links, as a kernel does. The caller holds
// the lock. If a folder on the way is missing, the error is fs.ErrNotExist. A missing last element
// is no error.
func (m *Memory) resolve(rel, name string) (place, error) {
	at := place{node: m.root}
	rest := strings.Split(rel, "/")
	links := 0
	for len(rest) > 0 {
		element := rest[0]
		rest = rest[1:]
		folder := at.node
		switch {
		case folder == nil:
			return place{}, fs.ErrNotExist
		case !folder.mode.IsDir():
			return place{}, syscall.ENOTDIR
		case element == "" || element == ".":
			continue
		case element == "..":
			if folder == m.root {
				return place{}, outsideByLink(name)
			}
			at = placeOf(folder.parent, m.root)
			continue
		}
		at = place{folder: folder, base: element, node: folder.children[element]}
		if at.node == nil || at.node.mode.Type() != fs.ModeSymlink {
			continue
		}
		if links++; links > maxLinks {
			return place{}, tooManyLinks(name)
		}
		target := string(at.node.content)
		if path.IsAbs(target) {
			return place{}, absoluteLink(name, target)
		}
		rest = append(strings.Split(target, "/"), rest...)
		at = placeOf(folder, m.root)
	}
	return at, nil
}

// placeOf returns the position of a folder.
func placeOf(folder, root *node) place {
	if folder == root {
		return place{node: root}
	}
	for base, child := range folder.parent.children {
		if child == folder {
			return place{folder: folder.parent, base: base, node: folder}
		}
	}
	return place{node: folder}
}

// makeFolders creates the folders of a name and returns the last one. The caller holds the lock, or
// is the only user of the tree.
func (m *Memory) makeFolders(rel string) (*node, error) {
	folder := m.root
	parent := path.Dir(rel)
	if parent == "." {
		return folder, nil
	}
	made := ""
	for element := range strings.SplitSeq(parent, "/") {
		made = path.Join(made, element)
		at, err := m.resolve(made, rel)
		if err != nil {
			return nil, err
		}
		if at.node == nil {
			at.node = m.tree.newNode(fs.ModeDir|0o777, folder.modTime)
			at.node.parent = at.folder
			at.folder.children[at.base] = at.node
		}
		if !at.node.mode.IsDir() {
			return nil, syscall.ENOTDIR
		}
		folder = at.node
	}
	return folder, nil
}
