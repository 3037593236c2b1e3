package catalog

import (
	"context"
	"errors"
	"fmt"

	"github.com/toolhost/toolhost/tool"
)

// ErrNotKept says that a decision is in force but could not be written, so that the next toolhost
// process will not know it.
var ErrNotKept = errors.New("it will be forgotten when toolhost starts again")

// Activate puts a candidate into service: from a Snapshot, from Upgrade or from Rollback. The
// replaced revision becomes the previous one, and the order becomes part of the history. A
// candidate whose file has changed again can still be activated, because it was found good; the new
// content is the next candidate. The error is unavailable if the candidate is outdated: its plugin
// is gone or has another name, the lock file does not allow it any more, or its copy is gone. The
// error wraps ErrNotKept if the candidate is in service nevertheless.
func (c *Catalog) Activate(candidate *Plugin, o Order) error {
	kept, err := c.sources.open(candidate.Digest, candidate.Source) // without c.mu held, because it reads files
	c.mu.Lock()
	s := c.slotLocked(candidate.Source)
	var p *Plugin
	switch {
	case s == nil || s.current == nil || s.current.Info.Name != candidate.Info.Name:
	case !allowed(c.pins, candidate.Digest):
	case candidate.Digest == digestOf(s.file) && s.file.usable() && s.refused == "" && s.untrusted == "":
		p = s.file
	case err == nil && kept.usable() && kept.Pinned && refusal(c.pins, kept, s.current) == "":
		p = kept
	}
	if p == nil {
		c.mu.Unlock()
		return tool.Errorf(tool.KindUnavailable, "the revision %s of plugin %q is outdated", candidate.Digest, candidate.Info.Name)
	}
	s.activate(p, o)
	if s.file != nil && s.file.Digest == candidate.against && s.file.Digest != p.Digest {
		s.hold("an operator went back to the revision before it") // a content that arrived since is new, and the next candidate
	}
	c.settleSlotsLocked()
	c.mu.Unlock()
	return c.keep()
}

// Reject records that a candidate cannot replace the revision in service, which stays. Warnings
// show the reason. The revision is no candidate any more until its file changes or Upgrade requests
// it. Rejecting an outdated candidate does nothing. The error wraps ErrNotKept.
func (c *Catalog) Reject(candidate *Plugin, reason string) error {
	c.mu.Lock()
	s := c.slotLocked(candidate.Source)
	if s == nil || s.current == nil || digestOf(s.file) != candidate.Digest || s.current.Digest == candidate.Digest {
		c.mu.Unlock()
		return nil
	}
	s.hold(reason)
	c.settleSlotsLocked()
	c.mu.Unlock()
	return c.keep()
}

// Adopt puts all candidates into service at once. Use it at the start, when no instance runs that
// they would replace. The error wraps ErrNotKept.
func (c *Catalog) Adopt() error {
	c.mu.Lock()
	for _, s := range c.slots {
		if p := s.candidate(); p != nil {
			s.activate(p, Order{})
		}
	}
	c.settleSlotsLocked()
	c.mu.Unlock()
	return c.keep()
}

// Upgrade reads the source of a plugin in service, asks it for its description if that is unknown,
// and returns it as a candidate, also if it was rejected or rolled back. If the source is
// unchanged, Upgrade returns the revision in service. Errors: not_found; unavailable if the source
// cannot be used; the cause of ctx's end.
func (c *Catalog) Upgrade(ctx context.Context, name string) (*Plugin, error) {
	source, err := c.sourceOf(name)
	if err != nil {
		return nil, err
	}
	if err := c.reread(ctx, source); err != nil {
		return nil, err
	}
	c.ask()
	for {
		c.mu.Lock()
		s, changed := c.slotLocked(source), c.changed
		p, waits, err := c.upgradeLocked(s, name)
		c.mu.Unlock()
		if !waits {
			return p, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// upgradeLocked returns the revision to upgrade to. waits means that the revision has not described
// itself yet.
func (c *Catalog) upgradeLocked(s *slot, name string) (p *Plugin, waits bool, err error) {
	refuse := func(reason string) (*Plugin, bool, error) {
		return nil, false, tool.Errorf(tool.KindUnavailable, "plugin %q cannot be upgraded: %s", name, reason)
	}
	switch {
	case s == nil || s.current == nil:
		return refuse("it is gone")
	case s.file == nil:
		return refuse(s.problem)
	case s.refused != "":
		return refuse(s.refused)
	case s.untrusted != "":
		return refuse(s.untrusted)
	case s.file.pending():
		return nil, !c.tasks.closed(), errClosed
	case !s.file.usable():
		return refuse(s.file.Problem)
	case s.renamed():
		return refuse(fmt.Sprintf("its file says that its name is %q", s.file.Info.Name))
	}
	c.sweeper.serve(s.file.Digest) // it will be launched, and was no candidate if it was held
	return s.file, false, nil
}

// reread reads one source.
func (c *Catalog) reread(ctx context.Context, source string) error {
	ctx, release, err := c.sources.acquire(ctx)
	if err != nil {
		return err
	}
	defer release()
	was := c.slotsBySource()[source]
	found, ok := look(source, false)
	if !ok {
		found = entry{source: source, problem: "its file is gone, or is no plugin any more"}
	}
	r := c.sources.read(ctx, found, was.record, was.file)
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.slotLocked(source); s != nil {
		s.apply(r, c.pins)
		if s.file != nil && s.file.unanswered {
			s.file = s.file.toAsk()
		}
		c.settleSlotsLocked()
	}
	return ctx.Err()
}

// Previous returns the digest that Rollback would return to; empty if there is none.
func (c *Catalog) Previous(name string) string {
	source, err := c.sourceOf(name)
	if err != nil {
		return ""
	}
	return c.index.get(source).Previous
}

// Rollback returns an earlier revision of a plugin in service as a candidate. number is that of
// Revisions; 0: the previous revision. Once it is activated it stays, over reloads and restarts,
// until its file changes or Upgrade asks for it. Errors: not_found if there is no such plugin or no
// such revision; unavailable if that cannot be run any more.
func (c *Catalog) Rollback(name string, number uint64) (*Plugin, error) {
	current := c.Snapshot().Plugin(name)
	if current == nil {
		return nil, tool.Errorf(tool.KindNotFound, "no plugin %q is in service", name)
	}
	r := c.index.get(current.Source)
	digest := r.Previous
	if number != 0 {
		digest = r.History.numbered(number)
	}
	switch {
	case digest == "" && number == 0:
		return nil, tool.Errorf(tool.KindNotFound, "plugin %q has no previous revision", name)
	case digest == "":
		return nil, tool.Errorf(tool.KindNotFound, "plugin %q has no revision %d; `toolhost revisions %s` lists them", name, number, name)
	}
	p, err := c.earlier(current, digest)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.slotLocked(current.Source); s != nil {
		p.against = digestOf(s.file)
	}
	c.sweeper.serve(digest)
	return p, nil
}

// earlier returns a revision that was in service before current. Errors: unavailable if it cannot
// be run any more.
func (c *Catalog) earlier(current *Plugin, digest string) (*Plugin, error) {
	name := current.Info.Name
	refuse := func(reason string) (*Plugin, error) {
		return nil, tool.Errorf(tool.KindUnavailable, "plugin %q cannot go back to %s: %s", name, digest, reason)
	}
	p, err := c.sources.open(digest, current.Source)
	if err != nil {
		return refuse(err.Error())
	}
	c.mu.Lock()
	pins := c.pins
	c.mu.Unlock()
	switch reason := refusal(pins, p, nil); {
	case !p.usable():
		return refuse(p.Problem)
	case pins[name].Digest != "" && !allowed(pins, digest):
		return refuse(fmt.Sprintf("the lock file allows only %s; with the other digest in its place there, it comes back by itself", pins[name].Digest))
	case reason != "":
		return refuse(reason)
	case p.Info.Name != name:
		return refuse(fmt.Sprintf("its name was %q", p.Info.Name))
	case !p.Pinned:
		return refuse("no copy of it is kept, because it is too large")
	}
	return p, nil
}

// sourceOf returns the source of the plugin in service under a name.
func (c *Catalog) sourceOf(name string) (string, error) {
	p := c.Snapshot().Plugin(name)
	if p == nil {
		return "", tool.Errorf(tool.KindNotFound, "no plugin %q is in service", name)
	}
	return p.Source, nil
}

func (c *Catalog) slotLocked(source string) *slot {
	for _, s := range c.slots {
		if s.source == source {
			return s
		}
	}
	return nil
}

// keep writes decisions to disk.
func (c *Catalog) keep() error {
	if err := c.index.save(); err != nil {
		return fmt.Errorf("%w: %w", ErrNotKept, err)
	}
	return nil
}
