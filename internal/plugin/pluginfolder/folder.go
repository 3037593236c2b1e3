// Package pluginfolder changes what is in a folder of plugins while toolhosts look at it: a plugin comes whole or not at
// all, takes the place of another at once, and leaves at once.
//
// It owns how files get there and away again, and the undoing. It does not know whether they are good plugins, nor who
// serves them.
package pluginfolder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/toolhost/toolhost/internal/plugin/rmtree"
)

// Catalogues pass over names that begin with a dot.
const (
	stagedPattern  = ".installing-*"
	removedPattern = ".uninstalling-*"
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

// Path returns where the plugin of a name is, or would be.
func (f *Folder) Path(name string) string { return filepath.Join(f.dir, name) }

// Staged is a copy of a plugin in the folder that nobody takes for one yet. Discard it in the end.
type Staged struct {
	folder *Folder
	parent string // a hidden folder, which holds the copy alone
	path   string
}

// Stage copies an executable or a folder. Links are kept as links; those that are absolute and lead into the folder lead
// into the copy. What no plugin consists of is left out: .git, __pycache__, and this folder itself, should it be in that of the
// plugin. It ends with ctx.
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
	if err := copyPlugin(ctx, s.path, source, f.dir); err != nil {
		return nil, errors.Join(fmt.Errorf("copying the plugin: %w", err), s.Discard())
	}
	return s, nil
}

// Folder returns a folder that holds the copy alone, for a catalogue that looks at nothing else.
func (s *Staged) Folder() string { return s.parent }

// Path returns where the copy is.
func (s *Staged) Path() string { return s.path }

// Discard removes the copy, and what it took the place of. What was placed stays.
func (s *Staged) Discard() error { return rmtree.Remove(s.parent) }

// Placed is a plugin that was put into its place.
type Placed struct {
	staged   *Staged
	path     string
	replaced bool
}

// Place puts the copy into the place of a plugin's name, in one step: whoever looks sees what was there before, or all of
// the new.
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

// Path returns where the plugin is.
func (p *Placed) Path() string { return p.path }

// Replaced reports whether there was something before.
func (p *Placed) Replaced() bool { return p.replaced }

// Undo puts back what was there before. It can be called until the Staged is discarded.
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

// Remove takes the plugin of a name away, in one step, and then removes its files. That there is none is an error that
// wraps fs.ErrNotExist.
func (f *Folder) Remove(name string) error {
	if _, err := os.Lstat(f.Path(name)); err != nil {
		return fmt.Errorf("removing the plugin: %w", err)
	}
	hidden, err := os.MkdirTemp(f.dir, removedPattern)
	if err != nil {
		return fmt.Errorf("removing the plugin: %w", err)
	}
	err = os.Rename(f.Path(name), filepath.Join(hidden, name))
	if err := errors.Join(err, rmtree.Remove(hidden)); err != nil {
		return fmt.Errorf("removing the plugin: %w", err)
	}
	return nil
}
