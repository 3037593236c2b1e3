package pluginfolder

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/server/internal/toolhost/sparse"
)

// Copy copies a file to a free path, or what is in a folder into a folder, which is made if it does
// not exist. It replaces nothing, keeps holes, and leaves out what Stage leaves out. It fails when
// ctx ends, and may then leave a part.
func Copy(ctx context.Context, to, from string) error {
	from, err := filepath.Abs(from)
	if err != nil {
		return err
	}
	return copyPlugin(ctx, to, from, "")
}

// copyPlugin copies a file or a folder to a free path. If the folder of plugins is inside the
// plugin's folder, it is left out.
func copyPlugin(ctx context.Context, to, from, plugins string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	source := &source{FS: os.DirFS(from), ctx: ctx, dir: from}
	if info.IsDir() && plugins != "" {
		source.without, err = within(from, plugins)
	}
	if err != nil {
		return err
	}
	if info.IsDir() {
		return copyFolder(to, source)
	}
	source.FS, source.dir = os.DirFS(filepath.Dir(from)), filepath.Dir(from)
	return copyFile(to, source, filepath.Base(from), info.Mode().Perm()|0o600)
}

// copyFolder is os.CopyFS, and keeps holes.
func copyFolder(to string, from fs.FS) error {
	return fs.WalkDir(from, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		path := filepath.Join(to, filepath.FromSlash(name))
		switch entry.Type() {
		case fs.ModeDir:
			return os.MkdirAll(path, 0o777)
		case fs.ModeSymlink:
			target, err := fs.ReadLink(from, name)
			if err != nil {
				return err
			}
			return os.Symlink(target, path)
		case 0:
			info, err := entry.Info()
			if err != nil {
				return err
			}
			return copyFile(path, from, name, info.Mode().Perm()|0o666)
		}
		return &fs.PathError{Op: "copying", Path: name, Err: fs.ErrInvalid}
	})
}

// copyFile copies a file to a free path.
func copyFile(to string, from fs.FS, name string, mode fs.FileMode) error {
	in, err := from.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = sparse.Copy(out, in)
	// The file is closed before it runs: a file that is open for writing cannot be executed.
	return errors.Join(err, out.Close())
}

// within returns the path of the folder inner relative to outer, with slashes. It is empty if inner
// is not inside outer.
func within(outer, inner string) (string, error) {
	outer, err := filepath.EvalSymlinks(outer)
	if err == nil {
		inner, err = filepath.EvalSymlinks(inner)
	}
	if err != nil {
		return "", err
	}
	relative, err := filepath.Rel(outer, inner)
	switch {
	case err != nil || !filepath.IsLocal(relative):
		return "", nil
	case relative == ".":
		return "", errors.New("it is the folder of plugins itself")
	}
	return filepath.ToSlash(relative), nil
}

// source is a folder that is being copied. Its methods fail when its context ends.
type source struct {
	fs.FS // of os.DirFS, which supports links
	ctx   context.Context
	dir   string

	without string // a folder in it that is left out, with slashes; empty: none
}

// Open implements fs.FS.
func (s *source) Open(name string) (fs.File, error) {
	if err := s.ctx.Err(); err != nil {
		return nil, err
	}
	file, err := s.FS.Open(name)
	if err != nil {
		return nil, err
	}
	return &ending{file, s.ctx}, nil
}

// ReadDir implements fs.ReadDirFS.
func (s *source) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := s.ctx.Err(); err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(s.FS, name)
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
		return e.Name() == ".git" || e.Name() == "__pycache__" || path.Join(name, e.Name()) == s.without
	}), err
}

// Lstat implements fs.ReadLinkFS.
func (s *source) Lstat(name string) (fs.FileInfo, error) { return fs.Lstat(s.FS, name) }

// ReadLink implements fs.ReadLinkFS. A link that names the folder itself by its absolute path would
// lead out of the copy.
func (s *source) ReadLink(name string) (string, error) {
	target, err := fs.ReadLink(s.FS, name)
	if err != nil {
		return "", err
	}
	if within, ok := strings.CutPrefix(filepath.Clean(target), s.dir+"/"); ok {
		if relative, err := filepath.Rel(path.Dir(name), within); err == nil {
			return relative, nil
		}
	}
	return target, nil
}

// ending is a file whose Read fails when a context ends.
type ending struct {
	fs.File
	ctx context.Context
}

func (e *ending) Read(p []byte) (int, error) {
	if err := e.ctx.Err(); err != nil {
		return 0, err
	}
	return e.File.Read(p)
}
