package catalog

import (
	"cmp"
	"errors"
	"slices"

	"github.com/toolhost/toolhost/server/internal/trust"
	"github.com/toolhost/toolhost/tool"
)

// Filter is a usable filter. It does not change once it is in a Snapshot. Filters and tools share
// one set of names: each name has one owner.
type Filter struct {
	Spec   tool.Filter
	Plugin *Plugin
}

// addFilters takes over the filters of a description. seen has the names of the plugin's tools.
func (p *Plugin) addFilters(specs []tool.Filter, seen map[string]bool) {
	for _, spec := range specs {
		if err := checkFilter(spec, seen); err != nil {
			p.warnf("the filter %q is left out: %v", spec.Name, err)
			continue
		}
		seen[trust.Fold(spec.Name)] = true
		p.Filters = append(p.Filters, &Filter{Spec: spec, Plugin: p})
	}
	slices.SortFunc(p.Filters, byFilterName)
}

func checkFilter(spec tool.Filter, seen map[string]bool) error {
	switch err := tool.CheckName(spec.Name); {
	case err != nil:
		return err
	case seen[trust.Fold(spec.Name)]:
		return errors.New("the plugin has a tool or another filter of that name")
	case !spec.Before && !spec.After:
		return errors.New("it is asked neither before calls nor after them")
	default:
		return nil
	}
}

func byFilterName(a, b *Filter) int { return cmp.Compare(a.Spec.Name, b.Spec.Name) }

// admittedFilters returns copies of the plugin's filters whose names it owns, and warns of the
// others.
func (p *Plugin) admittedFilters(owners map[string]*Plugin) []*Filter {
	var filters []*Filter
	for _, f := range p.Filters {
		if owner := owners[trust.Fold(f.Spec.Name)]; owner != nil && owner != p {
			p.warnf("the filter %q is left out: the plugin %q ships a tool or filter of that name", f.Spec.Name, owner.Info.Name)
			continue
		}
		copied := *f
		copied.Plugin = p
		filters = append(filters, &copied)
	}
	return filters
}

// Filter returns the filter of a name, or nil.
func (s *Snapshot) Filter(name string) *Filter { return s.ordered().byFilter[name] }
