package catalog

import (
	"cmp"
	"slices"
)

// Changes is the difference between two snapshots, ordered by name.
type Changes struct {
	Added      []*Plugin // in service now and not before
	Removed    []*Plugin // in service before and not now
	Changed    []Change  // in service at another digest: the candidate was activated
	Candidates []*Plugin // candidates that were none before
	Broken     []*Plugin // unusable, for a reason that they did not have before
	Refused    []*Plugin // in service, with a Refusal that they did not have before
}

// Change is a plugin before and after its replacement.
type Change struct{ Old, New *Plugin }

// Diff returns the plugins that were added, removed or replaced between two snapshots.
func Diff(before, now *Snapshot) Changes {
	var d Changes
	was, is := before.ordered(), now.ordered()
	for _, p := range is.plugins {
		old := was.byName[p.Info.Name]
		switch {
		case p.Problem != "":
			if !was.hadProblem(p) {
				d.Broken = append(d.Broken, p)
			}
		case old == nil:
			d.Added = append(d.Added, p)
		case old.Digest != p.Digest:
			d.Changed = append(d.Changed, Change{Old: old, New: p})
		}
	}
	for name, p := range is.byName {
		if old := was.byName[name]; p.Refusal != (Refusal{}) && (old == nil || old.Refusal != p.Refusal) {
			d.Refused = append(d.Refused, p)
		}
	}
	slices.SortFunc(d.Refused, func(a, b *Plugin) int { return cmp.Compare(a.Info.Name, b.Info.Name) })
	for _, p := range was.plugins {
		if p.Problem == "" && is.byName[p.Info.Name] == nil {
			d.Removed = append(d.Removed, p)
		}
	}
	for _, p := range is.candidates {
		if !was.offered(p) {
			d.Candidates = append(d.Candidates, p)
		}
	}
	return d
}

func (o *order) hadProblem(p *Plugin) bool {
	for _, q := range o.plugins {
		if q.Source == p.Source && q.Digest == p.Digest && q.Problem == p.Problem {
			return true
		}
	}
	return p.pending()
}

func (o *order) offered(p *Plugin) bool {
	for _, q := range o.candidates {
		if q.Source == p.Source && q.Digest == p.Digest {
			return true
		}
	}
	return false
}
