package trust

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// Folder is the record of a used folder of plugins: the trusted plugins by the names of their files
// or folders.
type Folder struct {
	Plugins map[string]*Plugin `json:"plugins"`
	ID      identity           `json:"id,omitzero"` // at the last use
}

// Plugin is the record of a trusted plugin. An empty Name means that the executable was trusted
// before the plugin had described itself: its first description is then trusted.
type Plugin struct {
	Digest string            `json:"digest"`
	When   time.Time         `json:"when"`
	Name   string            `json:"name,omitempty"`
	Order  uint64            `json:"order,omitempty"` // of the plugin's name; a lower order is an earlier claim
	Tools  map[string]Tool   `json:"tools,omitempty"` // by declared names
	Names  map[string]uint64 `json:"names,omitempty"` // names of tools and filters that this plugin owns, with the order of the claims
	Asks   []string          `json:"asks,omitempty"`  // the permissions that the plugin asks for, in words
	// Exact is why only this digest is trusted, and no later one in its place; "" if a later one
	// upgrades the plugin.
	Exact string `json:"exact,omitempty"`
	// Former is the revision that was trusted before; nil if none was. Its tools stay in service until
	// the trusted revision replaces it.
	Former *Former `json:"former,omitempty"`
}

// Former is the part of the record of a former revision that its tools need while they are
// replaced.
type Former struct {
	Digest  string              `json:"digest"`
	Filters map[string][]string `json:"filters,omitempty"` // Tool.Filters, by declared names of tools
}

// former returns what the next record of a plugin keeps of this one, for a revision with a digest.
func (p *Plugin) former(digest string) *Former {
	switch {
	case p == nil || p.Name == "":
		return nil
	case p.Digest == digest:
		return p.Former
	}
	f := &Former{Digest: p.Digest}
	for name, t := range p.Tools {
		if len(t.Filters) > 0 {
			if f.Filters == nil {
				f.Filters = map[string][]string{}
			}
			f.Filters[name] = t.Filters
		}
	}
	return f
}

// Tool is the trusted part of a tool's definition.
type Tool struct {
	Definition string `json:"definition"` // its digest
	// Text is the definition, to show what changed in it. Only tools of MCP servers have it.
	Text        string   `json:"text,omitempty"`
	Dangerous   bool     `json:"dangerous,omitempty"`
	ReadOnly    bool     `json:"read_only,omitempty"`
	Idempotent  bool     `json:"idempotent,omitempty"`
	Serial      bool     `json:"serial,omitempty"`
	Parallel    bool     `json:"parallel,omitempty"`
	Settles     bool     `json:"settles,omitempty"`
	Seals       bool     `json:"seals,omitempty"`
	Cost        float64  `json:"cost,omitempty"`
	RateLimit   uint32   `json:"rate_limit,omitempty"`
	Category    string   `json:"category,omitempty"`
	Tags        []string `json:"tags,omitempty"`
	Secrets     []string `json:"secrets,omitempty"`
	ContextKeys []string `json:"context_keys,omitempty"`
	EffectKeys  []string `json:"effect_keys,omitempty"`
	// Filters are the filters of its own plugin that its calls pass, in their order, each as its name
	// and its phases: "redact (before and after)".
	Filters []string `json:"filters,omitempty"`
}

// ToolOf returns the record of a tool with this declaration.
func ToolOf(spec tool.Spec) Tool {
	text, _ := json.Marshal(definition(spec)) // a spec that cannot be encoded cannot be transmitted either
	return Tool{
		Definition: Digest(text), Dangerous: spec.Dangerous, ReadOnly: spec.ReadOnly, Idempotent: spec.Idempotent, Serial: spec.Serial, Parallel: spec.Parallel, Settles: spec.Settles, Seals: spec.Seals,
		Cost: spec.CostPerUse, RateLimit: spec.RateLimitPerMinute, Category: spec.Category, Tags: slices.Clone(spec.Tags),
		Secrets: slices.Clone(spec.RequiresAuth), ContextKeys: slices.Clone(spec.ContextKeys),
		EffectKeys: slices.Clone(spec.EffectKeys),
	}
}

// Text returns a tool's declaration as lines of JSON, for people.
func Text(spec tool.Spec) string {
	text, _ := json.MarshalIndent(definition(spec), "", "  ") // see ToolOf
	return string(text) + "\n"
}

// definition returns a declaration without the hint of an MCP server that the tool only reads: it
// counts without trust, so a change of it needs none.
func definition(spec tool.Spec) tool.Spec {
	said := tool.SaidByMCP(&spec)
	if !said.ReadOnlyHint {
		return spec
	}
	said.ReadOnlyHint = false
	spec.Metadata = maps.Clone(spec.Metadata)
	said.Set(&spec)
	return spec
}

// Description is a plugin's description of itself, as far as it is recorded.
type Description struct {
	Digest string
	Name   string
	Tools  map[string]Tool // by name
	Names  []string        // names of tools and filters that this plugin owns, or that are free
	Asks   []string
}

// Fold returns a name in the form in which names are compared, without the difference between
// cases.
func Fold(name string) string { return strings.ToLower(name) }

// Plugins holds the records of the plugins in some folders. It is a copy that does not change.
type Plugins struct {
	bySource map[string]*Plugin
	byName   map[string]string // sources, by folded names of plugins
	owners   map[string]string // sources, by folded names of tools and filters
}

// Refuses returns why a digest may not upgrade the plugin, and "" if it may. otherNames is the
// present result of HasOtherNames for the plugin's file.
func (p *Plugin) Refuses(digest string, otherNames bool) string {
	switch {
	case p.Digest == digest:
		return ""
	case p.Exact == "" && otherNames:
		return exactLinked
	}
	return p.Exact
}

// Source returns the record of a plugin at a path, or nil. It reads links on the way to the path.
func (p *Plugins) Source(path string) *Plugin { return p.bySource[RealSource(path)] }

// At returns the record of a plugin at a path that RealSource returned, or nil.
func (p *Plugins) At(source string) *Plugin { return p.bySource[source] }

// Named returns the path of the plugin that has a name; empty if none has.
func (p *Plugins) Named(name string) string { return p.byName[Fold(name)] }

// Owner returns the path of the plugin that owns the name of a tool or filter; empty if none does.
func (p *Plugins) Owner(name string) string { return p.owners[Fold(name)] }

// Plugins returns the records of the plugins in some folders.
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
		folder = RealFolder(folder)
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

// Begin records the folders that were never used before, with the digests of their plugins by path.
// These plugins are trusted from then on. A plugin that could not be read has the digest "", and is
// trusted in the form in which it is read first.
//
// Two kinds of plugins are not trusted: plugins in a folder that plugins could write under an
// earlier toolhost, because a plugin may have put them there, and files with other names (hard
// links). If plugins could write around a folder that was used before, and another folder is at its
// path now, then only the recorded digests stay trusted.
func (s *Store) Begin(folders []string, digests map[string]string) error {
	return s.change(func(r *records) (bool, error) {
		changed := false
		for _, folder := range folders {
			folder = RealFolder(folder)
			if known := r.Folders[folder]; known != nil {
				changed = r.used(folder, known) || changed
				continue
			}
			f := &Folder{Plugins: map[string]*Plugin{}, ID: identify(folder)}
			writable := r.writable(folder) != ""
			for source, digest := range digests {
				if source = RealSource(source); filepath.Dir(source) == folder && !writable && !HasOtherNames(source) {
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

// used records that a folder is used again, and reports whether its record changes.
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
	folder = RealFolder(folder)
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

func (r *records) next() uint64 {
	r.Order++
	return r.Order
}

// RevokePlugin removes the record of the plugin at a path, with its claims to names. It reports
// whether there was one.
func (s *Store) RevokePlugin(path string) (was bool, err error) {
	source := RealSource(path)
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

// RestorePlugin restores an earlier record; nil removes the record.
func (s *Store) RestorePlugin(path string, record *Plugin) error {
	if record == nil {
		_, err := s.RevokePlugin(path)
		return err
	}
	source := RealSource(path)
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

// RealFolder returns the absolute path of a folder without links.
func RealFolder(folder string) string {
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	if abs, err := filepath.Abs(folder); err == nil {
		folder = abs
	}
	return folder
}

// RealSource returns the path of a plugin without links on the way to its folder. The plugin itself
// may be a link.
func RealSource(path string) string {
	return filepath.Join(RealFolder(filepath.Dir(path)), filepath.Base(path))
}
