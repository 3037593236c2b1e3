package workspace

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// batch is the number of folder entries that are read between two checks of the context.
const batch = 1000

// Local is a folder of this machine. It uses os.Root for every access. os.Root resolves a name
// element by element from an open folder, so ".." and symbolic links cannot lead out, even if
// another process replaces an element during the call.
type Local struct {
	root *os.Root
	dir  string
}

var _ Workspace = (*Local)(nil)

// OpenLocal opens a folder as a workspace. dir should be absolute: otherwise absolute paths in the
// workspace are refused. The caller closes it.
func OpenLocal(dir string) (*Local, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Local{root: root, dir: dir}, nil
}

// Close implements Workspace.
func (l *Local) Close() error { return l.root.Close() }

// Rel implements Workspace.
func (l *Local) Rel(path string) (string, error) { return relative(path, l.Dirs) }

// Dirs returns the absolute paths of the workspace: the one that it was opened with, and the one
// without links.
func (l *Local) Dirs() []string {
	bases := []string{l.dir}
	if real, err := filepath.EvalSymlinks(l.dir); err == nil && real != l.dir {
		bases = append(bases, real)
	}
	return bases
}

// Sub implements Workspace.
func (l *Local) Sub(ctx context.Context, name string) (Workspace, error) {
	rel, err := l.begin(ctx, "open", name)
	if err != nil {
		return nil, err
	}
	// OpenRoot opens the last element whatever it is, and blocks forever at a FIFO. It opens the
	// elements before it as folders.
	root, err := l.root.OpenRoot(strings.TrimSuffix(rel, "/") + "/.")
	if errors.Is(err, syscall.ENOTDIR) {
		// Either an element on the way is not a folder, or the last element was none and has become
		// one.
		if info, statErr := l.root.Stat(rel); statErr == nil {
			err = cmp.Or(onlyFolder(name, info.Mode()), err)
		}
	}
	if err != nil {
		return nil, explain("open", name, err)
	}
	return &Local{root: root, dir: filepath.Join(l.dir, rel)}, nil
}

// begin returns the relative form of a name. It fails if the context has ended.
func (l *Local) begin(ctx context.Context, action, name string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", explain(action, name, err)
	}
	return l.Rel(name)
}

// Stat implements Reader.
func (l *Local) Stat(ctx context.Context, name string) (Info, error) {
	rel, err := l.begin(ctx, "read", name)
	if err != nil {
		return Info{}, err
	}
	info, err := l.root.Stat(rel)
	if err != nil {
		return Info{}, explain("read", name, err)
	}
	return infoOf(info), nil
}

// Open implements Reader.
func (l *Local) Open(ctx context.Context, name string) (File, error) {
	rel, err := l.begin(ctx, "read", name)
	if err != nil {
		return nil, err
	}
	file, info, err := l.open(rel, name, onlyFile)
	if err != nil {
		return nil, err
	}
	return &localFile{file: file, info: infoOf(info), ctx: ctx, name: name}, nil
}

// ReadFile implements Reader.
func (l *Local) ReadFile(ctx context.Context, name string) ([]byte, error) {
	return ReadAll(ctx, l, name)
}

// open opens a file or folder for reading if it has the right kind. It never blocks on a FIFO and
// never opens a device.
func (l *Local) open(rel, name string, wanted func(string, fs.FileMode) error) (*os.File, fs.FileInfo, error) {
	// Opening a device may have an effect, so open checks the kind first. It checks again below,
	// because the file may change in between. Until then, O_NONBLOCK keeps a FIFO from blocking.
	info, err := l.root.Stat(rel)
	if err != nil {
		return nil, nil, explain("read", name, err)
	}
	if err := wanted(name, info.Mode()); err != nil {
		return nil, nil, err
	}
	return l.openUnasked(rel, name, wanted)
}

func (l *Local) openUnasked(rel, name string, wanted func(string, fs.FileMode) error) (*os.File, fs.FileInfo, error) {
	file, err := l.root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, explain("read", name, err)
	}
	info, err := file.Stat()
	if err == nil {
		err = wanted(name, info.Mode())
	}
	if err != nil {
		_ = file.Close() // closing a file after reading loses nothing
		return nil, nil, explain("read", name, err)
	}
	return file, info, nil
}

// ReadDir implements Reader.
func (l *Local) ReadDir(ctx context.Context, name string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		rel, err := l.begin(ctx, "list", name)
		if err != nil {
			yield(nil, err)
			return
		}
		open := l.open
		if rel == "." {
			open = l.openUnasked // the entry cannot be anything else
		}
		opened, _, err := open(rel, name, onlyFolder)
		if err != nil {
			yield(nil, err)
			return
		}
		defer opened.Close()
		folder, err := forReading(opened)
		if err != nil {
			yield(nil, explain("list", name, err))
			return
		}
		defer folder.Close()
		for {
			entries, err := folder.ReadDir(batch)
			for _, entry := range entries {
				if !yield(localEntry{name: entry.Name(), kind: entry.Type(), folder: l, path: rel}, nil) {
					return
				}
			}
			if errors.Is(err, io.EOF) {
				return
			}
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(nil, explain("list", name, err))
				return
			}
		}
	}
}

// localEntry is an entry of a folder, with its path in the workspace.
type localEntry struct {
	name   string
	kind   fs.FileMode
	folder *Local
	path   string
}

func (e localEntry) Name() string      { return e.name }
func (e localEntry) Type() fs.FileMode { return e.kind }

// Info implements Entry.
func (e localEntry) Info() (Info, error) {
	// Join would resolve "link/.." to the folder of the link.
	full := strings.TrimSuffix(e.path, "/") + "/" + e.name
	found, err := e.folder.root.Lstat(full)
	if err != nil {
		return Info{}, explain("read", e.name, err)
	}
	info := infoOf(found)
	if info.Mode.Type() == fs.ModeSymlink {
		if info.Target, err = e.folder.root.Readlink(full); err != nil {
			return Info{}, explain("read", e.name, err)
		}
	}
	return info, nil
}

// OpenFolder opens a folder so that a process can start in it. It follows links, and refuses what
// Open refuses for files. The caller closes it.
func (l *Local) OpenFolder(ctx context.Context, name string) (*os.File, error) {
	rel, err := l.begin(ctx, "open", name)
	if err != nil {
		return nil, err
	}
	folder, _, err := l.open(rel, name, onlyFolder)
	return folder, err
}

// infoOf converts the information of the operating system into an Info.
func infoOf(info fs.FileInfo) Info {
	return Info{Name: info.Name(), Mode: info.Mode(), Size: info.Size(), ModTime: info.ModTime(), Version: versionOf(info)}
}

// localFile is an open file whose reads end with its context.
type localFile struct {
	file *os.File
	info Info
	ctx  context.Context
	name string
}

func (f *localFile) Info() Info   { return f.info }
func (f *localFile) Close() error { return f.file.Close() }

func (f *localFile) Read(p []byte) (int, error) {
	if err := f.ctx.Err(); err != nil {
		return 0, explain("read", f.name, err)
	}
	n, err := f.file.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = explain("read", f.name, err)
	}
	return n, err
}

// Seek implements io.Seeker.
func (f *localFile) Seek(offset int64, whence int) (int64, error) {
	at, err := f.file.Seek(offset, whence)
	if err != nil {
		err = explain("read", f.name, err)
	}
	return at, err
}
