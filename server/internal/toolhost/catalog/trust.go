package catalog

import (
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/server/internal/trust"
	"github.com/toolhost/toolhost/tool"
)

// trustBounds holds the operator's trust records and limits plugins to them.
//
// A plugin's own description decides how toolhost treats its calls: whether a person is asked,
// whether a call is repeated, which rules match. So the operator's trust records limit it. A plugin
// without a record is not started. If a plugin with a record declares more than the operator
// trusted, every snapshot has the stricter value until the operator trusts the change. The
// invariant: nothing that a plugin declares after it was trusted makes a call easier. Without
// Config.Trust, every plugin is trusted.
//
// Catalog.mu guards records. The other fields do not change. The comments of methods that read or
// write files say so. Their callers must not hold Catalog.mu.
type trustBounds struct {
	store    *trust.Store // nil: every plugin is trusted
	trustNew bool         // plugins that arrive later, and changed declarations, are trusted too
	folders  []string
	log      *slog.Logger

	records *trust.Plugins // of the latest load; nil without store
}

// begin records the folders that are used for the first time, and returns all trust records. It
// reads and writes files.
func (b *trustBounds) begin(readings []reading) (*trust.Plugins, error) {
	if b.store == nil {
		return nil, nil
	}
	digests := map[string]string{}
	for _, r := range readings {
		digests[r.source] = digestOf(r.file)
	}
	if err := b.store.Begin(b.folders, digests); err != nil {
		return nil, err
	}
	return b.store.Plugins(b.folders)
}

// distrust returns the reason why the slot's file may not be used. It is empty if the file may be
// used.
func (b *trustBounds) distrust(s *slot) string {
	if b.store == nil || s.file == nil {
		return ""
	}
	known := b.records.At(s.real)
	name := nameOf(s.file)
	if owner := b.records.Named(name); owner != "" && owner != s.real {
		return fmt.Sprintf("the plugin name %q belongs to %s, so that %s is left out; if it is to have the name, run "+
			"`toolhost trust --revoke %s` and then `toolhost trust %s`", name, owner, s.source, name, name)
	}
	switch {
	case b.trustNew:
		return ""
	case known == nil && s.otherNames:
		return fmt.Sprintf("its file has another name (a hard link), under which a tool may have changed it, and is not started before it is trusted; "+
			"run `toolhost trust %s`, or `toolhost trust --all` for all plugins; so that later versions are used too, first make it a file of its own: cp -p %s %s.new && mv %s.new %s",
			name, trust.Quote(s.source), trust.Quote(s.source), trust.Quote(s.source), trust.Quote(s.source))
	case known == nil:
		return fmt.Sprintf("it is new in its folder, and is not started before it is trusted; if it is wanted, run `toolhost trust %s`", name)
	case known.Name != "" && s.file.knownName() != "" && s.file.knownName() != known.Name:
		return fmt.Sprintf("it says that its name is %q, and it was trusted as %q; if that is wanted, run `toolhost trust %s`",
			s.file.knownName(), known.Name, filepath.Base(s.source))
	}
	if reason := known.Refuses(s.file.Digest, s.otherNames); reason != "" {
		return fmt.Sprintf("it has changed since it was trusted, and %s; if it is wanted, run `toolhost trust %s`", reason, name)
	}
	return ""
}

// recordedName returns the name under which the source of a slot was trusted; empty if there is
// none yet.
func (b *trustBounds) recordedName(s *slot) string {
	if b.store == nil {
		return ""
	}
	if known := b.records.At(s.real); known != nil {
		return known.Name
	}
	return ""
}

// unknown reports whether the operator never trusted any revision of a slot, or revoked the
// trust.
func (b *trustBounds) unknown(s *slot) bool {
	return b.store != nil && !b.trustNew && b.records.At(s.real) == nil
}

// inForce returns the records that bound what plugins declare; nil if there are none.
func (b *trustBounds) inForce() *trust.Plugins {
	if b.trustNew {
		return nil
	}
	return b.records
}

// complete adds the missing data to the records of plugins that were trusted before they had
// described themselves. With trustNew, it updates all records. It returns the new records; nil if
// nothing is missing. It reads and writes the file of the records once, and not at all if nothing
// is missing.
func (b *trustBounds) complete(snapshot *Snapshot, records *trust.Plugins) *trust.Plugins {
	if b.store == nil {
		return nil
	}
	var claims []trust.Claim
	for _, p := range snapshot.Plugins() {
		known := records.Source(p.Source)
		first := known != nil && known.Name == ""
		if p.Problem != "" || !first && (!b.trustNew || known != nil && known.Digest == p.Digest) {
			continue
		}
		claims = append(claims, trust.Claim{Path: p.Source, Description: p.Trusted(), First: first})
	}
	if len(claims) == 0 {
		return nil
	}
	// A name that is taken already has a place in the description of the plugin that wanted it.
	updated, _, err := b.store.TrustPlugins(b.folders, claims)
	if err != nil {
		b.log.Error("that plugins are trusted is not recorded", "plugins", len(claims), "error", err)
		return nil
	}
	return updated
}

// nameOf returns the name under which the operator sees a plugin that may not have described
// itself.
func nameOf(p *Plugin) string {
	if name := p.knownName(); name != "" {
		return name
	}
	return p.Info.Name
}

// restrain limits the declarations of a plugin to its record. file is the digest of the plugin's
// file, which may be another revision than p. The caller owns the plugin.
func restrain(p *Plugin, file string, known *trust.Plugin) {
	if known != nil {
		p.trusted = known.When
	}
	if known == nil || known.Name == "" && (known.Digest == "" || known.Digest == p.Digest) {
		return // the first description of the trusted executable is trusted
	}
	if p.IsServer() {
		pin(p, known)
	}
	var relaxed, left []string
	tools := make([]*Tool, len(p.Tools))
	for i, t := range p.Tools {
		copied := *t
		tools[i] = &copied
		before, trusted := known.Tools[t.DeclaredName()]
		var changes []string
		copied.Spec, changes = before.Bound(t.Spec, trusted)
		if trusted && refiltered(p, t, file, known) {
			left = append(left, copied.Spec.Name)
		}
		if len(changes) > 0 {
			relaxed = append(relaxed, fmt.Sprintf("%s (%s)", copied.Spec.Name, strings.Join(changes, ", ")))
		}
	}
	p.Tools = slices.DeleteFunc(tools, func(t *Tool) bool { return slices.Contains(left, t.Spec.Name) })
	if len(left) > 0 {
		p.warnf("its tools %s are left out: the filters that it applies to their calls have changed since it was trusted; see `toolhost trust --diff %s`, and run `toolhost trust %s` if that is wanted",
			strings.Join(left, ", "), p.Info.Name, p.Info.Name)
	}
	if len(relaxed) > 0 {
		p.warnf("what it declares since it was trusted does not hold for its tools %s; see `toolhost trust --diff %s`, and run `toolhost trust %s` if it is wanted",
			strings.Join(relaxed, "; "), p.Info.Name, p.Info.Name)
	}
}

// IsServer reports whether the plugin is an MCP server, whose program cannot be told from what it
// declares: the same program may declare something else at any time.
func (p *Plugin) IsServer() bool { return p.Manifest != nil && p.Manifest.MCP != nil }

// pin removes the tools of an MCP server whose definition is not the one that the operator trusted.
// For a plugin of the plugin contract, a changed description is that of changed code, which has
// another digest. A server can change it without a trace. The caller owns the plugin.
func pin(p *Plugin, known *trust.Plugin) {
	trusted := func(spec *tool.Spec) bool {
		before, ok := known.Tools[spec.Name]
		return ok && before.Definition == trust.ToolOf(*spec).Definition
	}
	var left []string
	var specs []tool.Spec
	for i := range p.Info.Tools {
		if spec := &p.Info.Tools[i]; trusted(spec) {
			specs = append(specs, *spec)
		} else {
			left = append(left, spec.Name)
		}
	}
	if len(left) == 0 {
		return
	}
	p.Info.Tools = specs
	p.Tools = slices.DeleteFunc(slices.Clone(p.Tools), func(t *Tool) bool { return slices.Contains(left, t.DeclaredName()) })
	p.warnf("its tools %s are left out, because the MCP server declares them in another way than you trusted; see `toolhost trust --diff %s`, and run `toolhost trust %s` if it is wanted",
		strings.Join(left, ", "), p.Info.Name, p.Info.Name)
}

// outdated reports whether the operator has trusted other definitions of an MCP server than those
// with which the server described itself, so that the catalog has to ask it again.
func (b *trustBounds) outdated(s *slot) bool {
	if b.store == nil || !s.file.usable() || !s.file.IsServer() {
		return false
	}
	known := b.records.At(s.real)
	if known == nil || known.Name == "" || known.Digest != s.file.Digest {
		return false
	}
	described := s.file.Trusted().Tools
	return !maps.EqualFunc(known.Tools, described, func(a, b trust.Tool) bool { return a.Definition == b.Definition })
}

// Trusted returns the record of the plugin for an operator who trusts it as it is.
func (p *Plugin) Trusted() trust.Description {
	d := trust.Description{Digest: p.Digest, Name: p.Info.Name, Tools: map[string]trust.Tool{}}
	own := ownFiltersOf(&p.Info)
	for _, spec := range p.Info.Tools {
		if len(spec.Tags) == 0 {
			spec.Tags = p.Info.DefaultTags
		}
		record := trust.ToolOf(spec)
		record.Filters = recordOf(own[spec.Name])
		if p.IsServer() {
			record.Text = trust.Text(spec)
		}
		d.Tools[spec.Name] = record
	}
	for _, t := range p.Tools { // the names that it has, and that no other plugin has
		d.Names = append(d.Names, t.DeclaredName())
	}
	for _, f := range p.Filters {
		d.Names = append(d.Names, f.Spec.Name)
	}
	asked := p.Permissions()
	if asked.Network {
		d.Asks = append(d.Asks, "the network")
	}
	if asked.Workspace != "" && asked.Workspace != tool.AccessNone {
		d.Asks = append(d.Asks, fmt.Sprintf("to %s in the workspace", asked.Workspace))
	}
	for _, path := range asked.Read {
		d.Asks = append(d.Asks, "to read "+path)
	}
	for _, path := range asked.Write {
		d.Asks = append(d.Asks, "to change "+path)
	}
	for _, name := range p.Variables() {
		d.Asks = append(d.Asks, "the variable "+name)
	}
	slices.Sort(d.Asks)
	return d
}

// reserved returns the path of the plugin that owns a name, if that is not the plugin p; empty if p
// may have the name. The operator's overrides take precedence.
func (o *order) reserved(p *Plugin, name string) string {
	if o.records == nil {
		return ""
	}
	owner := o.records.Owner(name)
	if owner == "" || owner == p.real || o.given[trust.Fold(name)] == p.Info.Name {
		return ""
	}
	for _, other := range o.plugins { // the operator renamed the owner's tool, or disabled it
		if other.real == owner && other.Problem == "" && other.declares(name) &&
			!slices.ContainsFunc(other.Tools, func(t *Tool) bool { return t.Spec.Name == name }) {
			return ""
		}
	}
	return owner
}

// dropReserved removes the tools and filters of a plugin whose names another plugin owns, and adds
// warnings.
func (o *order) dropReserved(p *Plugin) {
	left := func(kind, name string) bool {
		owner := o.reserved(p, name)
		if owner == "" {
			return false
		}
		p.warnf("the %s %q is left out: the name belongs to %s, which had it first; `tools: {%s: {plugin: %s}}` in toolhost.yaml gives it to this plugin",
			kind, name, owner, name, p.Info.Name)
		return true
	}
	p.Tools = slices.DeleteFunc(slices.Clone(p.Tools), func(t *Tool) bool { return left("tool", t.Spec.Name) })
	p.Filters = slices.DeleteFunc(slices.Clone(p.Filters), func(f *Filter) bool { return left("filter", f.Spec.Name) })
}
