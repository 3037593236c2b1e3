package trust

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// Folder is a folder of plugins that was used, with what was trusted in it by the name of its file or folder.
type Folder struct {
	Plugins map[string]*Plugin `json:"plugins"`
	ID      identity           `json:"id,omitzero"` // of the folder when it was used last
}

// Plugin is the record of a plugin that was trusted. The zero Name means that its executable was trusted before the plugin
// had said what it is: what it says first is trusted then.
type Plugin struct {
	Digest string            `json:"digest"`
	When   time.Time         `json:"when"`
	Name   string            `json:"name,omitempty"`
	Order  uint64            `json:"order,omitempty"` // of the plugin's name: the lower, the earlier it was had
	Tools  map[string]Tool   `json:"tools,omitempty"` // by the names that the plugin declares
	Names  map[string]uint64 `json:"names,omitempty"` // of tools and filters that are this plugin's, with their order
	Asks   []string          `json:"asks,omitempty"`  // what the plugin asks to be allowed, in words
	// Exact is why only this digest is trusted, and no later one that takes its place; "" where a later one upgrades the plugin.
	Exact string `json:"exact,omitempty"`
}

// Tool is what was trusted of a tool's definition.
type Tool struct {
	Definition  string   `json:"definition"` // its digest
	Dangerous   bool     `json:"dangerous,omitempty"`
	ReadOnly    bool     `json:"read_only,omitempty"`
	Idempotent  bool     `json:"idempotent,omitempty"`
	Serial      bool     `json:"serial,omitempty"`
	Cost        float64  `json:"cost,omitempty"`
	RateLimit   uint32   `json:"rate_limit,omitempty"`
	Category    string   `json:"category,omitempty"`
	Tags        []string `json:"tags,omitempty"`
	Secrets     []string `json:"secrets,omitempty"`
	ContextKeys []string `json:"context_keys,omitempty"`
	EffectKeys  []string `json:"effect_keys,omitempty"`
}

// ToolOf returns what is recorded of a tool that declares itself so.
func ToolOf(spec tool.Spec) Tool {
	text, _ := json.Marshal(spec) // what cannot be encoded has no digest of its own, and never came over the wire
	return Tool{
		Definition: Digest(text), Dangerous: spec.Dangerous, ReadOnly: spec.ReadOnly, Idempotent: spec.Idempotent, Serial: spec.Serial,
		Cost: spec.CostPerUse, RateLimit: spec.RateLimitPerMinute, Category: spec.Category, Tags: slices.Clone(spec.Tags),
		Secrets: slices.Clone(spec.RequiresAuth), ContextKeys: slices.Clone(spec.ContextKeys),
		EffectKeys: slices.Clone(spec.EffectKeys),
	}
}

// Description is what a plugin says of itself, as far as it is trusted.
type Description struct {
	Digest string
	Name   string
	Tools  map[string]Tool // by name
	Names  []string        // of tools and filters that nobody had before, or that are this plugin's
	Asks   []string
}

// Fold returns a name as names are compared: two that differ only by case are the same.
func Fold(name string) string { return strings.ToLower(name) }

// Plugins is what is recorded of the plugins in some folders. It is a copy: it does not change.
type Plugins struct {
	bySource map[string]*Plugin
	byName   map[string]string // sources, by folded names of plugins
	owners   map[string]string // sources, by folded names of tools and filters
}

// Refuses returns why a digest may not upgrade the plugin, and "" if it may. otherNames says that the plugin's file has other
// names now, as HasOtherNames reports it.
func (p *Plugin) Refuses(digest string, otherNames bool) string {
	switch {
	case p.Digest == digest:
		return ""
	case p.Exact == "" && otherNames:
		return exactLinked
	}
	return p.Exact
}

// Source returns the record of a plugin at a path, or nil.
func (p *Plugins) Source(path string) *Plugin { return p.bySource[realSource(path)] }

// Named returns the path of the plugin that has a name; empty if none has.
func (p *Plugins) Named(name string) string { return p.byName[Fold(name)] }

// Owner returns the path of the plugin that has the name of a tool or filter; empty if none has.
func (p *Plugins) Owner(name string) string { return p.owners[Fold(name)] }

// Same reports whether two paths name the same plugin.
func Same(a, b string) bool { return realSource(a) == realSource(b) }

// Plugins returns what is recorded of the plugins in some folders.
func (s *Store) Plugins(folders []string) (*Plugins, error) {
	r, err := s.read()
	if err != nil {
		return nil, err
	}
	return r.plugins(folders), nil
}

func (r *records) plugins(folders []string) *Plugins {
	p := &Plugins{bySource: map[string]*Plugin{}, byName: map[string]string{}, owners: map[string]string{}}
	orders := map[string]uint64{}
	for _, folder := range folders {
		folder = realFolder(folder)
		if r.Folders[folder] == nil {
			continue
		}
		for base, known := range r.Folders[folder].Plugins {
			source := filepath.Join(folder, base)
			p.bySource[source] = known
			first := func(of map[string]string, key string, order uint64) {
				if had, taken := orders[key]; order > 0 && (!taken || order < had) {
					orders[key], of[key[1:]] = order, source
				}
			}
			if known.Name != "" {
				first(p.byName, "p"+Fold(known.Name), known.Order)
			}
			for name, order := range known.Names {
				first(p.owners, "t"+Fold(name), order)
			}
		}
	}
	return p
}

// Reasons why only one digest of a plugin is trusted.
const (
	exactLinked   = "the file has another name (a hard link), under which a tool may have changed it"
	exactReplaced = "its folder, which lies where tools may write, was made again since"
)

// Begin records the folders that were never used before, with the digests of what is in them by path: that is trusted. What
// could not be read has the digest "", and is trusted as it is read first. A folder in
// which plugins could write under an earlier toolhost begins without plugins that are trusted, because one of them may have
// put them there. A file with another name (a hard link) is not trusted either. Where plugins could write around a folder that was
// used before, and the folder at its path is another one now, only the digests that were trusted stay trusted.
func (s *Store) Begin(folders []string, digests map[string]string) error {
	return s.change(func(r *records) (bool, error) {
		changed := false
		for _, folder := range folders {
			folder = realFolder(folder)
			if known := r.Folders[folder]; known != nil {
				changed = r.used(folder, known) || changed
				continue
			}
			f := &Folder{Plugins: map[string]*Plugin{}, ID: identify(folder)}
			writable := r.writable(folder) != ""
			for source, digest := range digests {
				if source = realSource(source); filepath.Dir(source) == folder && !writable && !HasOtherNames(source) {
					f.Plugins[filepath.Base(source)] = &Plugin{Digest: digest, When: s.now().UTC()}
				}
			}
			if r.Folders == nil {
				r.Folders = map[string]*Folder{}
			}
			r.Folders[folder], changed = f, true
		}
		return changed, nil
	})
}

// used notes that a folder is used again, and reports whether that changes its record.
func (r *records) used(folder string, known *Folder) bool {
	id := identify(folder)
	if id == known.ID || id == (identity{}) {
		return false
	}
	if known.ID != (identity{}) && !id.is(known.ID) && r.writable(folder) != "" {
		for _, plugin := range known.Plugins {
			plugin.Exact = exactReplaced
		}
	}
	known.ID = id
	return true
}

// Known reports whether a folder was used before.
func (s *Store) Known(folder string) (bool, error) {
	r, err := s.read()
	if err != nil {
		return false, err
	}
	folder = realFolder(folder)
	return r.Folders[folder] != nil || r.writable(folder) != "", nil
}

// PluginFolders returns the folders that were used, in order.
func (s *Store) PluginFolders() ([]string, error) {
	r, err := s.read()
	if err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(r.Folders)), nil
}

// ErrTaken says that the name of a plugin belongs to another one.
var ErrTaken = errors.New("the name is taken")

// TrustPlugin records that the plugin at a path is trusted as it describes itself. Among the plugins of the folders, names that
// another one had first stay that one's; if the plugin's own name is such a name, the error wraps ErrTaken. With first set,
// nothing is changed unless the digest was trusted before the plugin had said what it is.
func (s *Store) TrustPlugin(folders []string, path string, d Description, first bool) error {
	source := realSource(path)
	return s.change(func(r *records) (bool, error) {
		folder, base := filepath.Dir(source), filepath.Base(source)
		if r.Folders[folder] == nil {
			if first {
				return false, nil
			}
			if r.Folders == nil {
				r.Folders = map[string]*Folder{}
			}
			r.Folders[folder] = &Folder{Plugins: map[string]*Plugin{}, ID: identify(folder)}
		}
		before := r.Folders[folder].Plugins[base]
		if first && (before == nil || before.Name != "" || before.Digest != "" && before.Digest != d.Digest) {
			return false, nil
		}
		all := r.plugins(folders)
		if owner := all.Named(d.Name); owner != "" && owner != source {
			return false, fmt.Errorf("%w: the plugin name %q belongs to %s", ErrTaken, d.Name, owner)
		}
		now := &Plugin{Digest: d.Digest, When: s.now().UTC(), Name: d.Name, Tools: d.Tools, Asks: d.Asks, Names: map[string]uint64{}}
		switch {
		case HasOtherNames(source):
			now.Exact = exactLinked
		case first:
			now.Exact = before.Exact
		}
		if before != nil && Fold(before.Name) == Fold(d.Name) {
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
		return true, nil
	})
}

func (r *records) next() uint64 {
	r.Order++
	return r.Order
}

// RevokePlugin forgets the plugin at a path, and which names it had; it reports whether there was a record.
func (s *Store) RevokePlugin(path string) (was bool, err error) {
	source := realSource(path)
	err = s.change(func(r *records) (bool, error) {
		folder := r.Folders[filepath.Dir(source)]
		if folder == nil {
			return false, nil
		}
		_, was = folder.Plugins[filepath.Base(source)]
		delete(folder.Plugins, filepath.Base(source))
		return was, nil
	})
	return was, err
}

// RestorePlugin puts a record back as it was; nil removes it.
func (s *Store) RestorePlugin(path string, record *Plugin) error {
	if record == nil {
		_, err := s.RevokePlugin(path)
		return err
	}
	source := realSource(path)
	return s.change(func(r *records) (bool, error) {
		folder := r.Folders[filepath.Dir(source)]
		if folder == nil {
			return false, nil
		}
		folder.Plugins[filepath.Base(source)] = record
		return true, nil
	})
}

// TrustedPlugin is a plugin that was trusted, with its path.
type TrustedPlugin struct {
	Path string
	Plugin
}

// AllPlugins returns the plugins that were trusted, ordered by path.
func (s *Store) AllPlugins() ([]TrustedPlugin, error) {
	r, err := s.read()
	if err != nil {
		return nil, err
	}
	var all []TrustedPlugin
	for _, folder := range slices.Sorted(maps.Keys(r.Folders)) {
		for _, base := range slices.Sorted(maps.Keys(r.Folders[folder].Plugins)) {
			all = append(all, TrustedPlugin{filepath.Join(folder, base), *r.Folders[folder].Plugins[base]})
		}
	}
	return all, nil
}

// realFolder returns a folder without links on the way.
func realFolder(folder string) string {
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	if abs, err := filepath.Abs(folder); err == nil {
		folder = abs
	}
	return folder
}

// realSource returns where a plugin is, without links on the way to its folder. A link in its place stays.
func realSource(path string) string {
	return filepath.Join(realFolder(filepath.Dir(path)), filepath.Base(path))
}
