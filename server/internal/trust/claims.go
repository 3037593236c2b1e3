package trust

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"
)

// ErrTaken says that the name of a plugin belongs to another one.
var ErrTaken = errors.New("the name is taken")

// Claim is a plugin that describes itself, at a path.
type Claim struct {
	Path        string
	Description Description
	// First says that the claim counts only if the digest was trusted before the plugin had described
	// itself.
	First bool
}

// TrustPlugin records that the plugin at a path is trusted as it describes itself. Names that
// another plugin of the folders owns stay with that plugin. If the plugin's own name is one of
// them, the error wraps ErrTaken. With first set, TrustPlugin changes nothing unless the digest was
// trusted before the plugin had described itself.
func (s *Store) TrustPlugin(folders []string, path string, d Description, first bool) error {
	_, taken, err := s.TrustPlugins(folders, []Claim{{path, d, first}})
	return errors.Join(err, errors.Join(taken...))
}

// TrustUnread records that a plugin is trusted that cannot describe itself yet, with the digest of
// its file: its first description is trusted then. name is the name that it will probably have. The
// names of tools that it owns stay its own. If another plugin of the folders has name, the error
// wraps ErrTaken, and nothing changes.
func (s *Store) TrustUnread(folders []string, path, name, digest string) error {
	source := RealSource(path)
	folder, base := filepath.Dir(source), filepath.Base(source)
	return s.change(func(r *records) (bool, error) {
		if owner := r.plugins(folders).Named(name); owner != "" && owner != source {
			return false, errTaken(name, owner)
		}
		now := &Plugin{Digest: digest, When: s.now().UTC()}
		if HasOtherNames(source) {
			now.Exact = exactLinked
		}
		plugins := r.folder(folder).Plugins
		if before := plugins[base]; before != nil {
			now.Names = before.Names
		}
		plugins[base] = now
		return true, nil
	})
}

// errTaken is the error for a plugin whose name belongs to another one.
func errTaken(name, owner string) error {
	return fmt.Errorf("%w: the plugin name %q belongs to %s", ErrTaken, name, owner)
}

// folder returns the record of a folder, and makes one if there is none.
func (r *records) folder(path string) *Folder {
	if r.Folders == nil {
		r.Folders = map[string]*Folder{}
	}
	if r.Folders[path] == nil {
		r.Folders[path] = &Folder{Plugins: map[string]*Plugin{}, ID: identify(path)}
	}
	return r.Folders[path]
}

// TrustPlugins is TrustPlugin for several plugins, in this order: it reads and writes the records
// once. It returns the records of the folders after the change, and an error for each claim that it
// refused, which wraps ErrTaken. If it cannot read or write the records, it changes nothing.
func (s *Store) TrustPlugins(folders []string, claims []Claim) (after *Plugins, taken []error, err error) {
	err = s.change(func(r *records) (bool, error) {
		after, taken = r.plugins(folders), nil
		changed := false
		for _, c := range claims {
			source := RealSource(c.Path)
			before, now, err := r.claim(after, source, c, s.now().UTC())
			if err != nil {
				taken = append(taken, err)
			}
			if now == nil {
				continue
			}
			changed = true
			if before == nil || before.Name == "" && len(before.Names) == 0 {
				after.add(source, now)
				continue
			}
			after = r.plugins(folders) // names may have become free
		}
		return changed, nil
	})
	if err != nil {
		return nil, nil, err
	}
	return after, taken, nil
}

// claim records a plugin as it describes itself. all has the records of the folders. It returns the
// record before and the new one; now is nil if nothing changes.
func (r *records) claim(all *Plugins, source string, c Claim, when time.Time) (before, now *Plugin, err error) {
	d := c.Description
	folder, base := filepath.Dir(source), filepath.Base(source)
	if r.Folders[folder] == nil && c.First {
		return nil, nil, nil
	}
	before = r.folder(folder).Plugins[base]
	if c.First && (before == nil || before.Name != "" || before.Digest != "" && before.Digest != d.Digest) {
		return before, nil, nil
	}
	if owner := all.Named(d.Name); owner != "" && owner != source {
		return before, nil, errTaken(d.Name, owner)
	}
	now = &Plugin{Digest: d.Digest, When: when, Name: d.Name, Tools: d.Tools, Asks: d.Asks, Names: map[string]uint64{}, Former: before.former(d.Digest)}
	switch {
	case HasOtherNames(source):
		now.Exact = exactLinked
	case c.First:
		now.Exact = before.Exact
	}
	if before != nil && (before.Name == "" || Fold(before.Name) == Fold(d.Name)) {
		now.Order = before.Order
		maps.Copy(now.Names, before.Names)
	}
	if now.Order == 0 {
		now.Order = r.next()
	}
	maps.DeleteFunc(now.Names, func(name string, _ uint64) bool { return !slices.Contains(d.Names, name) })
	for _, name := range slices.Sorted(slices.Values(d.Names)) {
		if owner := all.Owner(name); now.Names[name] == 0 && (owner == "" || owner == source) {
			now.Names[name] = r.next()
		}
	}
	r.Folders[folder].Plugins[base] = now
	return before, now, nil
}

// add adds the record of a plugin that owned no name before.
func (p *Plugins) add(source string, known *Plugin) {
	p.bySource[source] = known
	claim := func(of map[string]string, name string) {
		if of[Fold(name)] == "" {
			of[Fold(name)] = source
		}
	}
	claim(p.byName, known.Name)
	for name := range known.Names {
		claim(p.owners, name)
	}
}
