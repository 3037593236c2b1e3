package scaffold

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/toolhost/toolhost/internal/version"
)

// Upgrade is the change of an existing repository to the SDK of this toolhost. It changes the files
// that contain the SDK or name its version. All other files belong to the author.
//
// OpenUpgrade reads the repository and writes nothing. Apply writes. Before Apply, a caller can
// show the changes, and make sure that the author has a copy of each file that Apply overwrites.
type Upgrade struct {
	// SDKs contains the SDKs that the repository uses, usually one.
	SDKs []UpgradedSDK
	// Changes are the changes of the files in the order of their names. It is empty if the
	// repository has the SDK of this toolhost already.
	Changes []Change

	dir   string
	edits edits
}

// UpgradedSDK is one SDK of a repository with its version before and after the upgrade.
type UpgradedSDK struct {
	Language string
	From, To string
}

// Change is the change of one file.
type Change struct {
	File   string // relative to the repository, with slashes
	Action Action
}

// Action is how an upgrade changes a file.
type Action string

// The actions.
const (
	Added   Action = "added"
	Changed Action = "changed"
	Removed Action = "removed"
)

var (
	// ErrUnknown is the error for a folder that uses no SDK of toolhost, or uses it in a way that an
	// upgrade does not know.
	ErrUnknown = errors.New("it is not a repository of a plugin or a caller that --upgrade knows")
	// ErrNewer is the error for a repository whose SDK is newer than that of this toolhost.
	ErrNewer = errors.New("its SDK is newer than that of this toolhost")
	// ErrLinked is the error for a repository that uses the SDK of a checkout.
	ErrLinked = errors.New("it uses the SDK of a checkout; update the checkout instead")
)

// edits are the new contents of files by name. A nil content removes the file.
type edits map[string][]byte

// OpenUpgrade returns the upgrade of the repository in dir. sources are the SDKs' sources, and
// online has the meaning of Config.Online. The error wraps ErrUnknown, ErrNewer or ErrLinked if the
// repository cannot be upgraded.
func OpenUpgrade(dir string, sources fs.FS, online bool) (*Upgrade, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("reading the repository: %w", err)
	}
	defer root.Close()
	u := &Upgrade{dir: dir, edits: edits{}}
	r := repository{FS: root.FS(), sources: sources, online: online, edits: u.edits}
	for _, name := range Languages() {
		from, err := languages[name].upgrade(r)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, fmt.Errorf("upgrading %s: %w", dir, err)
		case semver.Compare("v"+from, goVersion) > 0:
			return nil, fmt.Errorf("upgrading %s: %w: %s, and this toolhost has %s", dir, ErrNewer, from, version.Number)
		}
		u.SDKs = append(u.SDKs, UpgradedSDK{name, from, version.Number})
	}
	if len(u.SDKs) == 0 {
		return nil, fmt.Errorf("upgrading %s: %w: none of %s there names the SDK", dir, ErrUnknown, strings.Join(namingFiles(), ", "))
	}
	return u, u.compare(r)
}

// namingFiles returns the files that can name an SDK.
func namingFiles() []string {
	var names []string
	for _, language := range Languages() {
		names = append(names, languages[language].names)
	}
	return names
}

// compare finds the changes: the edits that differ from the files in the repository.
func (u *Upgrade) compare(r repository) error {
	for _, name := range slices.Sorted(maps.Keys(u.edits)) {
		action, err := r.action(name)
		if err != nil {
			return fmt.Errorf("reading the repository: %w", err)
		}
		if action != "" {
			u.Changes = append(u.Changes, Change{name, action})
		}
	}
	return nil
}

// action returns how the edit changes a file, or "" if it does not.
func (r repository) action(name string) (Action, error) {
	before, err := r.read(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	switch exists, after := err == nil, r.edits[name]; {
	case after == nil && exists:
		return Removed, nil
	case after == nil || exists && bytes.Equal(before, after):
		return "", nil
	case exists:
		return Changed, nil
	}
	return Added, nil
}

// Overwrites returns the files whose present content Apply overwrites or removes.
func (u *Upgrade) Overwrites() []string {
	var names []string
	for _, c := range u.Changes {
		if c.Action != Added {
			names = append(names, c.File)
		}
	}
	return names
}

// Apply changes the files. It writes the new SDK first, then the files that name it, and removes
// the earlier SDK last. So after a failure, the repository still contains the version that it
// names. A second upgrade completes the change. Apply never writes outside of the repository, even
// if the repository has a symbolic link that leads out.
func (u *Upgrade) Apply() error {
	root, err := os.OpenRoot(u.dir)
	if err != nil {
		return fmt.Errorf("upgrading the repository: %w", err)
	}
	defer root.Close()
	ordered := slices.SortedStableFunc(slices.Values(u.Changes), func(a, b Change) int {
		return cmp.Compare(a.step(), b.step())
	})
	for _, c := range ordered {
		name := filepath.FromSlash(c.File)
		if c.Action == Removed {
			err = root.Remove(name)
		} else if err = root.MkdirAll(filepath.Dir(name), 0o755); err == nil {
			err = replace(root, name, u.edits[c.File])
		}
		if err != nil {
			return fmt.Errorf("upgrading the repository: %w", err)
		}
	}
	for _, c := range ordered {
		if c.Action == Removed {
			removeEmpty(root, path.Dir(c.File))
		}
	}
	return nil
}

// replace writes a file as a whole or not at all, so that an interrupted upgrade leaves no part of
// a file. It writes a new file and renames it, so that the old file may be read-only. The new file
// has the permissions of the old one.
func replace(root *os.Root, name string, data []byte) error {
	const suffix = ".toolhost-upgrade"
	mode := fs.FileMode(0o644)
	if info, err := root.Lstat(name); err == nil {
		mode = info.Mode().Perm()
	}
	if err := root.Remove(name + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) { // of an interrupted upgrade
		return err
	}
	file, err := root.OpenFile(name+suffix, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err = errors.Join(err, file.Chmod(mode), file.Sync(), file.Close()); err == nil {
		err = root.Rename(name+suffix, name)
	}
	if err != nil {
		_ = root.Remove(name + suffix)
	}
	return err
}

// step returns the number of the step of Apply that makes the change.
func (c Change) step() int {
	switch {
	case c.Action == Removed:
		return 3
	case strings.HasPrefix(c.File, carriedDir+"/"):
		return 1
	}
	return 2
}

// removeEmpty removes the folders of the SDK that have become empty, from the innermost outwards.
func removeEmpty(root *os.Root, folder string) {
	for folder == carriedDir || strings.HasPrefix(folder, carriedDir+"/") {
		if root.Remove(filepath.FromSlash(folder)) != nil { // fails unless it is empty
			return
		}
		folder = path.Dir(folder)
	}
}

// repository is an existing repository, with the edits of an upgrade.
type repository struct {
	fs.FS
	sources fs.FS
	online  bool
	edits   edits
}

// maxFileBytes bounds a file that the upgrade reads. A go.sum of a large module has some MiB.
const maxFileBytes = 64 << 20

// read returns the content of a file. It refuses a path with a symbolic link, because the upgrade
// would change a file of another name, which the caller did not check. It also refuses anything
// that is no regular file: a read of a named pipe never ends.
func (r repository) read(name string) ([]byte, error) {
	for at := name; at != "."; at = path.Dir(at) {
		info, err := fs.Lstat(r.FS, at)
		if err != nil {
			return nil, err
		}
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			return nil, fmt.Errorf("%w: %s is a symbolic link; replace it by what it denotes", ErrUnknown, at)
		case at == name && (!info.Mode().IsRegular() || info.Size() > maxFileBytes):
			return nil, fmt.Errorf("%w: %s is not a regular file of at most %d bytes", ErrUnknown, at, maxFileBytes)
		}
	}
	return fs.ReadFile(r.FS, name)
}

// changesAnything reports whether an edit changes a file.
func (r repository) changesAnything() (bool, error) {
	for name := range r.edits {
		if action, err := r.action(name); err != nil || action != "" {
			return true, err
		}
	}
	return false, nil
}

func (r repository) origin() origin { return origin{fetched: r.online, use: r.use()} }

// replaceCarried replaces the files of the SDK in third_party for which belongs returns true. An
// online repository contains none.
func (r repository) replaceCarried(carry func(fs.FS, origin) ([]file, error), belongs func(name string) bool) error {
	err := fs.WalkDir(r, carriedDir, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && belongs(name) {
			r.edits[name] = nil
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if r.online {
		return nil
	}
	files, err := carry(r.sources, r.origin())
	for _, f := range files {
		if belongs(f.name) {
			r.edits[f.name] = []byte(f.text)
		}
	}
	return err
}
