package catalog

import (
	"fmt"
	"maps"
	"slices"

	"github.com/toolhost/toolhost/server/internal/trust"
	"github.com/toolhost/toolhost/tool"
)

// ownFilters has the filters that a plugin applies to its own tools, by the declared names of the
// tools, in the order in which the plugin declares the filters.
type ownFilters map[string][]tool.Filter

func ownFiltersOf(d *tool.Description) ownFilters {
	own := ownFilters{}
	for _, f := range d.Filters {
		for _, name := range f.Tools {
			own[name] = append(own[name], f)
		}
	}
	return own
}

// checkOwnFilters returns an error if a plugin applies a filter to its own tools that cannot be
// used, or names a tool that it does not have. Such a plugin cannot be used at all: a tool must not
// run without a filter that its author relies on.
func checkOwnFilters(d *tool.Description) error {
	tools, folded := map[string]bool{}, map[string]bool{}
	for i := range d.Tools {
		tools[d.Tools[i].Name], folded[trust.Fold(d.Tools[i].Name)] = true, true
	}
	seen, counts := maps.Clone(folded), map[string]int{}
	for _, f := range d.Filters {
		err := checkFilter(f, seen)
		seen[trust.Fold(f.Name)] = true
		if err != nil && len(f.Tools) > 0 {
			return fmt.Errorf("the filter %.100q, which applies to tools of the plugin: %w", f.Name, err)
		}
		named := map[string]bool{}
		for _, name := range f.Tools {
			if !tools[name] || named[name] {
				return fmt.Errorf("the filter %q applies to the tool %.100q, which the plugin does not have, or which it names twice", f.Name, name)
			}
			named[name] = true
			if counts[name]++; counts[name] > tool.MaxOwnFilters {
				return fmt.Errorf("more than %d filters of the plugin apply to its tool %q", tool.MaxOwnFilters, name)
			}
		}
	}
	return nil
}

// AppliesFiltersOf reports whether this revision of a plugin applies the same filters to a tool, in
// the same phases, as the revision that the tool belongs to.
func (p *Plugin) AppliesFiltersOf(t *Tool) bool {
	var own []tool.Filter
	for _, f := range p.Info.Filters {
		if slices.Contains(f.Tools, t.DeclaredName()) {
			own = append(own, f)
		}
	}
	return slices.Equal(recordOf(own), recordOf(t.Filters))
}

// recordOf returns filters as the trust record of a tool has them.
func recordOf(filters []tool.Filter) []string {
	var texts []string
	for _, f := range filters {
		switch {
		case f.Before && f.After:
			texts = append(texts, f.Name+" (before and after)")
		case f.Before:
			texts = append(texts, f.Name+" (before)")
		default:
			texts = append(texts, f.Name+" (after)")
		}
	}
	return texts
}

// refiltered reports whether a plugin applies other filters to its trusted tool than those that the
// operator trusted. Records of earlier versions of toolhost have no filters, but their digest says
// that the plugin is the same.
//
// file is the digest of the plugin's file. When the operator has trusted the file, and the revision
// before it is still in service, the filters that were trusted with that revision count. So the
// tool is there all the time. A former revision that comes back as the file is not meant.
func refiltered(p *Plugin, t *Tool, file string, known *trust.Plugin) bool {
	trusted := known.Tools[t.DeclaredName()].Filters
	leaving := file == known.Digest && p.Digest != file
	if f := known.Former; leaving && f != nil && f.Digest == p.Digest {
		trusted = f.Filters[t.DeclaredName()]
	}
	return !slices.Equal(trusted, recordOf(t.Filters)) && (known.Digest != p.Digest || len(trusted) > 0)
}
