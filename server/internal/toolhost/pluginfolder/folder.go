// Package pluginfolder changes the content of a folder of plugins while toolhosts look at it. For
// them, each change is one step: a plugin appears completely, replaces another one, or disappears.
//
// It owns adding, replacing and removing plugins, and the undo. It does not know whether the
// plugins are good, or which toolhost serves them.
package pluginfolder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/toolhost/toolhost/server/internal/store/rmtree"
)

// Catalogs ignore names that begin with a dot.
const (
	stagedPattern  = ".installing-*"
	removedPattern = ".uninstalling-*"
	sharedName     = ".shared" // the files that environments have in common
)

// Folder is a folder of plugins. The zero value is not usable.
type Folder struct{ dir string }

// Open returns the folder at a path, and makes it if it does not exist.
func Open(dir string) (*Folder, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		return nil, fmt.Errorf("opening the folder of plugins: %w", err)
	}
	return &Folder{dir}, nil
}

// Path returns the path of the plugin of a name, whether it exists or not.
func (f *Folder) Path(name string) string { return filepath.Join(f.dir, name) }

// Staged is a copy of a plugin in the folder that catalogs ignore. Discard it in the end.
type Staged struct {
	folder *Folder
	parent string // a hidden folder that holds only the copy
	path   string
}

// Stage copies an executable or a folder. Links stay links. Absolute links into the folder lead
// into the copy. Stage leaves out what is no part of a plugin: .git, __pycache__, and this folder
// itself if it is inside the plugin's. The files of Python environments become read-only, and other
// plugins in the folder share them. It fails when ctx ends.
func (f *Folder) Stage(ctx context.Context, source string) (*Staged, error) {
	source, err := filepath.Abs(source)
	if err != nil {
		return nil, fmt.Errorf("copying the plugin: %w", err)
	}
	parent, err := os.MkdirTemp(f.dir, stagedPattern)
	if err != nil {
		return nil, fmt.Errorf("copying the plugin: %w", err)
	}
	s := &Staged{folder: f, parent: parent, path: filepath.Join(parent, filepath.Base(source))}
	err = copyPlugin(ctx, s.path, source, f.dir)
	if err == nil {
		err = f.shareEnvironments(ctx, s.path)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("copying the plugin: %w", err), s.Discard())
	}
	return s, nil
}

// Folder returns a folder that holds only the copy, for a catalog that looks at nothing else.
func (s *Staged) Folder() string { return s.parent }

// Path returns the path of the copy.
func (s *Staged) Path() string { return s.path }

// Discard removes the copy, and the plugin that it replaced. A placed copy stays.
func (s *Staged) Discard() error {
	return errors.Join(rmtree.Remove(s.parent), s.folder.shared().Sweep())
}

// Placed is a plugin in its place.
type Placed struct {
	staged   *Staged
	path     string
	replaced bool
}

// Place moves the copy to a plugin's name, in one step: other processes see the earlier plugin, or
// the complete new one.
func (s *Staged) Place(name string) (*Placed, error) {
	p := &Placed{staged: s, path: s.folder.Path(name)}
	_, err := os.Lstat(p.path)
	switch {
	case err == nil:
		p.replaced = true
		err = exchange(s.path, p.path)
	case errors.Is(err, fs.ErrNotExist):
		err = os.Rename(s.path, p.path)
	}
	if err != nil {
		return nil, fmt.Errorf("putting the plugin into its place: %w", err)
	}
	return p, nil
}

// Path returns the plugin's path.
func (p *Placed) Path() string { return p.path }

// Replaced reports whether there was a plugin before.
func (p *Placed) Replaced() bool { return p.replaced }

// Undo restores the earlier state. It can be called until the Staged is discarded.
func (p *Placed) Undo() error {
	var err error
	if p.replaced {
		err = exchange(p.staged.path, p.path)
	} else {
		err = os.Rename(p.path, p.staged.path)
	}
	if err != nil {
		return fmt.Errorf("putting back what was there before: %w", err)
	}
	return nil
}

// Remove removes the plugin of a name from the folder in one step, and then removes its files. If
// there is none, the error wraps fs.ErrNotExist.
func (f *Folder) Remove(name string) error {
	if _, err := os.Lstat(f.Path(name)); err != nil {
		return fmt.Errorf("removing the plugin: %w", err)
	}
	hidden, err := os.MkdirTemp(f.dir, removedPattern)
	if err != nil {
		return fmt.Errorf("removing the plugin: %w", err)
	}
	err = os.Rename(f.Path(name), filepath.Join(hidden, name))
	if err := errors.Join(err, rmtree.Remove(hidden), f.shared().Sweep()); err != nil {
		return fmt.Errorf("removing the plugin: %w", err)
	}
	return nil
}
