package workspace

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// MemoryDir is the absolute path of a workspace in memory.
const MemoryDir = "/workspace"

// MemoryFile is a file for NewMemory. The zero value is an empty file.
type MemoryFile struct {
	// Mode is the kind and the permissions of the file. Permissions of 0 mean 0666, or 0777 for a
	// folder.
	Mode fs.FileMode
	// Content is the content of a file, or the target of a link.
	Content string
	// ModTime is the time of the last change. The zero value means the beginning of 2000, so that
	// tests are repeatable.
	ModTime time.Time
}

// Memory is a workspace in memory, for tests and trials. It does not enforce read permissions. It
// is lost with its process.
type Memory struct {
	tree *tree
	root *node
	dir  string
}

var _ Workspace = (*Memory)(nil)

// tree is the state that a workspace and its subs share.
type tree struct {
	mu       sync.RWMutex // guards all nodes
	versions int
	bytes    int64 // of all nodes
	limit    int64 // of bytes; 0: none
}

// entryBytes is what each node counts besides its content. It bounds their number.
const entryBytes = 1 << 10

// node is a file, folder, link or another kind of entry.
type node struct {
	mode     fs.FileMode
	content  []byte // the content of a file, which never changes in place, or the target of a link
	modTime  time.Time
	version  int
	parent   *node            // nil for the root
	children map[string]*node // the entries of a folder
}

// NewMemory returns a workspace with files under their names. It creates the folders of the names.
// It panics if a name is invalid, or leads through a file.
func NewMemory(files map[string]MemoryFile) *Memory {
	m := &Memory{tree: &tree{}, dir: MemoryDir}
	m.root = m.tree.newNode(fs.ModeDir|0o777, time.Time{})
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := m.seed(name, files[name]); err != nil {
			panic(fmt.Sprintf("workspace.NewMemory: %v", err))
		}
	}
	return m
}

// Limit makes writes fail beyond so many bytes, with an error that wraps ErrTooLarge. Each file and
// folder counts 1 KiB in addition to its content. 0 means no limit, which is the default. Call it
// before the workspace is used.
func (m *Memory) Limit(bytes int64) { m.tree.limit = bytes }

func (m *Memory) seed(name string, file MemoryFile) error {
	rel, err := m.Rel(name)
	if err != nil {
		return err
	}
	folder, err := m.makeFolders(rel)
	if err != nil {
		return err
	}
	permissions := fs.FileMode(0o666)
	if file.Mode.IsDir() {
		permissions = 0o777
	}
	n := m.tree.newNode(file.Mode.Type()|cmp.Or(file.Mode.Perm(), permissions), file.ModTime)
	n.content = []byte(file.Content)
	m.tree.bytes += int64(len(n.content))
	n.parent = folder
	folder.children[path.Base(rel)] = n
	return nil
}

func (t *tree) newNode(mode fs.FileMode, modTime time.Time) *node {
	if modTime.IsZero() {
		modTime = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	t.versions++
	t.bytes += entryBytes
	n := &node{mode: mode, modTime: modTime, version: t.versions}
	if mode.IsDir() {
		n.children = map[string]*node{}
	}
	return n
}

// Close implements Workspace.
func (m *Memory) Close() error { return nil }

// Rel implements Workspace.
func (m *Memory) Rel(path string) (string, error) {
	return relative(path, m.Dirs)
}

// Dirs returns the absolute path of the workspace, which begins with MemoryDir.
func (m *Memory) Dirs() []string { return []string{m.dir} }

// ReadFile implements Reader.
func (m *Memory) ReadFile(ctx context.Context, name string) ([]byte, error) {
	return ReadAll(ctx, m, name)
}

// Sub implements Workspace.
func (m *Memory) Sub(ctx context.Context, name string) (Workspace, error) {
	n, rel, err := m.find(ctx, "open", name)
	if err != nil {
		return nil, err
	}
	if err := onlyFolder(name, n.mode); err != nil {
		return nil, err
	}
	return &Memory{tree: m.tree, root: n, dir: path.Join(m.dir, rel)}, nil
}

// find returns the node that a name leads to. It follows links.
func (m *Memory) find(ctx context.Context, action, name string) (*node, string, error) {
	if err := ctx.Err(); err != nil {
		return nil, "", explain(action, name, err)
	}
	rel, err := m.Rel(name)
	if err != nil {
		return nil, "", err
	}
	m.tree.mu.RLock()
	defer m.tree.mu.RUnlock()
	at, err := m.resolve(rel, name)
	if err == nil && at.node == nil {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, "", explain(action, name, err)
	}
	return at.node, rel, nil
}

// Stat implements Reader.
func (m *Memory) Stat(ctx context.Context, name string) (Info, error) {
	n, rel, err := m.find(ctx, "read", name)
	if err != nil {
		return Info{}, err
	}
	return m.info(n, path.Base(rel)), nil
}

func (m *Memory) info(n *node, name string) Info {
	m.tree.mu.RLock()
	defer m.tree.mu.RUnlock()
	return n.info(name)
}

func (n *node) info(name string) Info {
	info := Info{Name: name, Mode: n.mode, ModTime: n.modTime, Version: "m" + strconv.Itoa(n.version)}
	switch {
	case n.mode.IsRegular():
		info.Size = int64(len(n.content))
	case n.mode.Type() == fs.ModeSymlink:
		info.Target = string(n.content)
	}
	return info
}

// Open implements Reader.
func (m *Memory) Open(ctx context.Context, name string) (File, error) {
	n, rel, err := m.find(ctx, "read", name)
	if err != nil {
		return nil, err
	}
	if err := onlyFile(name, n.mode); err != nil {
		return nil, err
	}
	m.tree.mu.RLock()
	defer m.tree.mu.RUnlock()
	return &memoryFile{ctx: ctx, name: name, info: n.info(path.Base(rel)), content: bytes.NewReader(n.content)}, nil
}

type memoryFile struct {
	ctx     context.Context
	name    string
	info    Info
	content *bytes.Reader
}

func (f *memoryFile) Info() Info   { return f.info }
func (f *memoryFile) Close() error { return nil }

func (f *memoryFile) Read(p []byte) (int, error) {
	if err := f.ctx.Err(); err != nil {
		return 0, explain("read", f.name, err)
	}
	return f.content.Read(p)
}

// ReadDir implements Reader.
func (m *Memory) ReadDir(ctx context.Context, name string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		n, _, err := m.find(ctx, "list", name)
		if err == nil {
			err = onlyFolder(name, n.mode)
		}
		if err != nil {
			yield(nil, err)
			return
		}
		m.tree.mu.RLock()
		children := maps.Clone(n.children)
		m.tree.mu.RUnlock()
		for child, n := range children {
			if !yield(memoryEntry{memory: m, node: n, name: child}, nil) {
				return
			}
		}
	}
}

type memoryEntry struct {
	memory *Memory
	node   *node
	name   string
}

func (e memoryEntry) Name() string        { return e.name }
func (e memoryEntry) Type() fs.FileMode   { return e.node.mode.Type() }
func (e memoryEntry) Info() (Info, error) { return e.memory.info(e.node, e.name), nil }

// WriteFile implements Writer.
func (m *Memory) WriteFile(ctx context.Context, name string, content []byte, o WriteOptions) (Change, error) {
	if err := ctx.Err(); err != nil {
		return Change{}, explain("write", name, err)
	}
	rel, err := m.Rel(name)
	if err != nil {
		return Change{}, err
	}
	if namesFolder(rel) {
		return Change{}, errorf(ErrFolder, "%q names a folder; give the path of a file", name)
	}
	m.tree.mu.Lock()
	defer m.tree.mu.Unlock()
	at, err := m.resolve(rel, name)
	if full := m.tree.full(at.node, rel, name, content); full != nil {
		return Change{}, full
	}
	if errors.Is(err, fs.ErrNotExist) && o.IfVersion == "" {
		if _, err = m.makeFolders(rel); err == nil {
			at, err = m.resolve(rel, name)
		}
	}
	switch {
	case err != nil:
		return Change{}, explain("write", name, err)
	case at.node == nil && o.IfVersion != "":
		return Change{}, explain("write", name, fs.ErrNotExist)
	}
	return m.put(at, name, content, o)
}

// full returns an error if there is no room for a content with the folders of its name. It counts
// folders that exist, too: an error near the limit is no defect. The caller holds the lock.
func (t *tree) full(old *node, rel, name string, content []byte) error {
	added := int64(len(content)) + entryBytes*int64(1+strings.Count(rel, "/"))
	if old != nil {
		added -= int64(len(old.content)) + entryBytes
	}
	if t.limit > 0 && added > 0 && t.bytes+added > t.limit {
		return errorf(ErrTooLarge, "there is no room for %q: this workspace is in memory, and has at most %d bytes", name, t.limit)
	}
	return nil
}

// put writes to the node that a name leads to. The caller holds the lock.
func (m *Memory) put(at place, name string, content []byte, o WriteOptions) (Change, error) {
	var change Change
	mode := fs.FileMode(0o666)
	if at.node != nil {
		change.Before = at.node.info(at.base)
		if err := writable(name, change.Before, o); err != nil {
			return Change{}, err
		}
		mode = at.node.mode
		m.tree.bytes -= int64(len(at.node.content)) + entryBytes
	}
	m.tree.bytes += int64(len(content))
	n := m.tree.newNode(mode, time.Now())
	n.content, n.parent = bytes.Clone(content), at.folder
	at.folder.children[at.base] = n
	change.After = n.info(at.base)
	return change, nil
}
