package catalog

import (
	"slices"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// The bounds of a history. An operator looks for the last revision that worked, which is seldom far
// back, and each kept digest costs the disk a copy of the plugin.
const (
	maxRevisions = 10
	maxKept      = 5
)

// history has the latest revisions of a source, the oldest first, at most maxRevisions. Nil is
// empty.
type history []revision

// revision is one time at which a digest came into service.
type revision struct {
	Number uint64    `json:"number"` // from 1, without gaps
	Digest string    `json:"digest"`
	Time   time.Time `json:"time,omitzero"` // zero: a version without histories recorded it
	Order
}

// Order is why a revision comes into service.
type Order struct {
	Cause  tool.RevisionCause `json:"cause,omitempty"`  // empty in Activate: tool.RevisionChanged
	By     string             `json:"by,omitempty"`     // the key of the operator's principal; empty: no operator ordered it
	Reason string             `json:"reason,omitempty"` // the operator's, in at most tool.MaxReason bytes
}

// add returns a history with one more revision, whose number it chooses. A revision without a
// digest is not added.
func (h *history) add(r revision) *history {
	var all history
	if h != nil {
		all = *h
	}
	if r.Digest == "" {
		return h
	}
	r.Number = 1
	if len(all) > 0 {
		r.Number = all[len(all)-1].Number + 1
	}
	next := append(slices.Clone(all[max(0, len(all)-maxRevisions+1):]), r)
	return &next
}

// explainable is how long after a change of a file an operator's reason for an upgrade to it is
// taken for the reason of the change. That is enough to copy a file and to type the command.
const explainable = time.Minute

// explained returns a history whose newest revision has an operator's reason. It returns nil if the
// newest revision is not of a digest, was not the change of a file a moment ago, or has a reason.
func (h *history) explained(digest string, o Order, now time.Time) *history {
	if h == nil || len(*h) == 0 {
		return nil
	}
	next := slices.Clone(*h)
	r := &next[len(next)-1]
	if r.Digest != digest || r.Cause != tool.RevisionChanged || r.By+r.Reason != "" || now.Sub(r.Time) > explainable {
		return nil
	}
	r.By, r.Reason = o.By, o.Reason
	return &next
}

// Explain gives the revision in service of a plugin the principal and the reason of an operator who
// upgraded to it, if it came into service by itself just before: the file had changed, and the
// catalog was faster than the operator. Otherwise it does nothing. The error wraps ErrNotKept.
func (c *Catalog) Explain(p *Plugin, o Order) error {
	c.mu.Lock()
	if s := c.slotLocked(p.Source); s != nil && s.record.Current == p.Digest {
		if h := s.record.History.explained(p.Digest, o, time.Now()); h != nil {
			s.record.History = h
			c.index.put(s.source, s.record)
		}
	}
	c.mu.Unlock()
	return c.keep()
}

// kept returns the digests whose copies stay for a rollback: the latest ones, at most maxKept.
func (h *history) kept() []string {
	if h == nil {
		return nil
	}
	var digests []string
	for _, r := range slices.Backward(*h) {
		if !slices.Contains(digests, r.Digest) && len(digests) < maxKept {
			digests = append(digests, r.Digest)
		}
	}
	return digests
}

// Revisions returns which revisions of a plugin came into service, the newest first. Of a plugin
// that is not in service, none is current or kept. Errors: not_found.
func (c *Catalog) Revisions(name string) ([]tool.Revision, error) {
	plugins := c.Snapshot().Plugins()
	i := slices.IndexFunc(plugins, func(p *Plugin) bool { return p.Info.Name == name })
	if i < 0 {
		return nil, tool.Errorf(tool.KindNotFound, "there is no plugin %q", name)
	}
	p := plugins[i]
	revisions := []tool.Revision{}
	h := c.index.get(p.Source).History
	if h == nil {
		return revisions, nil
	}
	returnable := map[string]bool{}
	if p.usable() {
		for _, digest := range h.kept() {
			_, err := c.earlier(p, digest)
			returnable[digest] = err == nil && digest != p.Digest
		}
	}
	current := p.usable()
	for _, r := range slices.Backward(*h) {
		revisions = append(revisions, tool.Revision{
			Number: r.Number, Digest: r.Digest, Time: r.Time, Cause: r.Cause, Principal: r.By, Reason: r.Reason,
			Current: current && r.Digest == p.Digest, Kept: returnable[r.Digest],
		})
		current = current && r.Digest != p.Digest // an earlier time of the same digest is over
	}
	return revisions, nil
}

// numbered returns the digest of a revision of a source; empty if its history has none of the
// number.
func (h *history) numbered(n uint64) string {
	if h == nil {
		return ""
	}
	for _, r := range *h {
		if r.Number == n {
			return r.Digest
		}
	}
	return ""
}
