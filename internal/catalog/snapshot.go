package catalog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/internal/arguments"
	"github.com/toolhost/toolhost/tool"
)

const problemPending = "it is new and is being asked what it is"

// Plugin is an executable that was found. It does not change once it is in a Snapshot.
type Plugin struct {
	Source   string           // where the operator put it
	Path     string           // the copy that is run; empty if it could not be read
	Digest   string           // sha256:…; empty if it could not be read
	Info     tool.Description // what it says of itself; only a name, taken from the file, if Problem is set
	Problem  string           // why it is not used, in words; empty if it is
	Warnings []string         // what is wrong with it although it is used
	Tools    []*Tool          // those that can be called, ordered by name
}

// Tool is a tool that can be called. It does not change once it is in a Snapshot.
type Tool struct {
	Spec   tool.Spec
	Plugin *Plugin
	Schema *arguments.Schema // of the arguments, compiled
}

// Info returns the tool as callers see it.
func (t *Tool) Info() tool.Info {
	return tool.Info{Spec: t.Spec, Plugin: t.Plugin.Info.Name, PluginVersion: t.Plugin.Info.Version}
}

// describe takes over what the plugin says of itself and sorts out what cannot be used.
func (p *Plugin) describe(d tool.Description) {
	if err := tool.CheckName(d.Name); err != nil {
		p.Problem = "it describes itself wrongly: " + err.Error()
		return
	}
	p.Info, p.Problem = d, ""
	seen := map[string]bool{}
	for _, spec := range d.Tools {
		t, err := newTool(p, spec, seen)
		if err != nil {
			p.warnf("the tool %q is left out: %v", spec.Name, err)
			continue
		}
		p.Tools = append(p.Tools, t)
	}
	slices.SortFunc(p.Tools, byToolName)
	if len(p.Tools) == 0 {
		p.Problem = "it has no tool that can be used"
		if len(p.Warnings) > 0 {
			p.Problem += ": " + strings.Join(p.Warnings, "; ")
		}
	}
}

func newTool(p *Plugin, spec tool.Spec, seen map[string]bool) (*Tool, error) {
	if err := tool.CheckName(spec.Name); err != nil {
		return nil, err
	}
	if seen[spec.Name] {
		return nil, fmt.Errorf("the plugin declares it twice")
	}
	if strings.TrimSpace(spec.Description) == "" {
		return nil, fmt.Errorf("it has no description")
	}
	schema, err := arguments.Compile(spec.InputSchema)
	if err != nil {
		return nil, fmt.Errorf("its input schema cannot be used: %w", err)
	}
	if len(spec.OutputSchema) > 0 {
		if _, err := arguments.Compile(spec.OutputSchema); err != nil {
			return nil, fmt.Errorf("its output schema cannot be used: %w", err)
		}
	}
	seen[spec.Name] = true
	if len(spec.Tags) == 0 {
		spec.Tags = p.Info.DefaultTags
	}
	return &Tool{Spec: spec, Plugin: p, Schema: schema}, nil
}

func (p *Plugin) warnf(format string, args ...any) {
	p.Warnings = append(p.Warnings, fmt.Sprintf(format, args...))
}

// Snapshot is what is known at one moment. It does not change.
type Snapshot struct {
	scanned []*Plugin // in the order of the scan
	plugins []*Plugin // ordered by name; conflicts resolved
	tools   []*Tool   // ordered by name
	byTool  map[string]*Tool
	byName  map[string]*Plugin
}

func newSnapshot(scanned []*Plugin) *Snapshot {
	s := &Snapshot{scanned: scanned, byTool: map[string]*Tool{}, byName: map[string]*Plugin{}}
	for _, found := range scanned {
		p := s.admit(found)
		s.plugins = append(s.plugins, p)
		for _, t := range p.Tools {
			s.byTool[t.Spec.Name] = t
			s.tools = append(s.tools, t)
		}
	}
	slices.SortStableFunc(s.plugins, func(a, b *Plugin) int { return cmp.Compare(a.Info.Name, b.Info.Name) })
	slices.SortFunc(s.tools, byToolName)
	return s
}

// admit returns the plugin as it stands beside those before it: names that are taken are left out. Conflicts are found
// per snapshot, because which plugins answer first is chance and the order of the scan is not.
func (s *Snapshot) admit(found *Plugin) *Plugin {
	if found.Problem != "" {
		return found
	}
	p := *found
	if first := s.byName[p.Info.Name]; first != nil {
		p.Problem = fmt.Sprintf("the plugin name %q is taken by %s", p.Info.Name, first.Source)
		p.Tools = nil
		return &p
	}
	p.Tools, p.Warnings = nil, slices.Clone(found.Warnings)
	for _, t := range found.Tools {
		if first := s.byTool[t.Spec.Name]; first != nil {
			p.warnf("the tool %q is left out: the plugin %q ships one of that name", t.Spec.Name, first.Plugin.Info.Name)
			continue
		}
		own := *t
		own.Plugin = &p
		p.Tools = append(p.Tools, &own)
	}
	s.byName[p.Info.Name] = &p
	return &p
}

// Plugins returns all plugins, ordered by name, also those with a Problem. The slice is shared: do not change it.
func (s *Snapshot) Plugins() []*Plugin { return s.plugins }

// Plugin returns the usable plugin of a name, or nil.
func (s *Snapshot) Plugin(name string) *Plugin { return s.byName[name] }

// Tool returns the tool of a name, or nil.
func (s *Snapshot) Tool(name string) *Tool { return s.byTool[name] }

// Tools returns the tools that match, ordered by name.
func (s *Snapshot) Tools(q tool.Query) []*Tool {
	var out []*Tool
	for _, t := range s.tools {
		if matches(&t.Spec, q) {
			out = append(out, t)
			if q.MaxTools > 0 && len(out) == q.MaxTools {
				break
			}
		}
	}
	return out
}

func matches(spec *tool.Spec, q tool.Query) bool {
	return (len(q.Names) == 0 || slices.Contains(q.Names, spec.Name)) &&
		(len(q.Categories) == 0 || slices.Contains(q.Categories, spec.Category)) &&
		(len(q.Tags) == 0 || slices.ContainsFunc(q.Tags, func(tag string) bool { return slices.Contains(spec.Tags, tag) })) &&
		(q.Dangerous == nil || *q.Dangerous == spec.Dangerous) &&
		(q.MaxCostPerUse == nil || spec.CostPerUse <= *q.MaxCostPerUse)
}

func byToolName(a, b *Tool) int { return cmp.Compare(a.Spec.Name, b.Spec.Name) }
