package catalog

import (
	"fmt"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/manifest"
	"github.com/toolhost/toolhost/tool"
)

// slot holds one source and its revisions that matter. Catalog.mu guards it. Its Plugins do not
// change.
type slot struct {
	source  string
	real    string  // source without links on the way to its folder, as of the latest load
	problem string  // why the source cannot be read; empty if it can
	fault   string  // the fault of the machine that is the problem; empty if it is another one
	file    *Plugin // the revision in the source; nil if problem is set
	current *Plugin // the revision in service; nil if none is
	refused string  // why the lock file does not allow file; empty if it does
	// untrusted is the reason why the operator's trust does not cover file. It is empty if the
	// trust covers it.
	untrusted string
	// otherNames says that the source has other names (hard links), under which it may be changed.
	otherNames bool
	told       Refusal // the last refusal, which holds while file is asked again
	record     record
}

// apply takes over a reading.
func (s *slot) apply(r reading, pins manifest.Lock) {
	if r.file.pending() && s.file != nil && s.file.Digest == r.file.Digest && (s.file.usable() || s.file.unanswered) {
		r.file = s.file // the plugin has answered since the reading began
	}
	s.problem, s.fault, s.file, s.otherNames = r.problem, r.fault, r.file, r.otherNames
	if r.current != nil && (s.current == nil || !allowed(pins, s.current.Digest)) {
		s.current = r.current
		if s.record.Current != r.current.Digest { // the lock file allows only the previous one
			s.enter(r.current.Digest, Order{Cause: tool.RevisionLocked})
		}
	}
	s.refused = ""
	if s.file == nil {
		return
	}
	if s.record.Held != "" && s.record.Held != s.file.Digest {
		s.record.Held, s.record.Reason = "", ""
	}
	s.record.Stamp, s.record.Digest = r.stamp, s.file.Digest
	if s.current != nil && s.current.Digest == s.file.Digest {
		s.current = s.file
	}
	s.refused = refusal(pins, s.file, s.current)
}

// decide puts file into service if that replaces no plugin. That is so if no revision is in service
// yet, or if file has another name and so is another plugin. taken reports whether another source
// has a name.
func (s *slot) decide(pins manifest.Lock, taken func(name, source string) bool) {
	allowed := s.refused == "" && s.untrusted == "" && s.file.usable()
	// The lock file has changed. If it allows file, and file is broken, the current revision stays.
	if s.current != nil && pins != nil && !pins.Has(s.current.Digest) && (s.file == nil || s.refused != "") {
		s.current = nil
	}
	switch {
	case !allowed:
	case s.current == nil:
		s.activate(s.file, Order{})
	case s.current.Digest == s.file.Digest:
		s.current = s.file
		s.record.Current = s.file.Digest
		s.record.Held, s.record.Reason = "", ""
	case s.renamed() && s.record.Held == "" && !taken(s.file.Info.Name, s.source):
		s.activate(s.file, Order{})
	}
}

// activate puts a revision into service.
func (s *slot) activate(p *Plugin, o Order) {
	s.enter(p.Digest, o)
	s.current = p
	s.record.Held, s.record.Reason = "", ""
}

// enter records that a digest comes into service, unless it is there already.
func (s *slot) enter(digest string, o Order) {
	switch {
	case s.record.Current == digest:
		return
	case s.record.Current == "":
		o.Cause = tool.RevisionAdded
	case o.Cause == "":
		o.Cause = tool.RevisionChanged
	}
	s.record.Current, s.record.Previous = digest, s.record.Current
	s.record.History = s.record.History.add(revision{Digest: digest, Time: time.Now().UTC().Round(0), Order: o})
}

// hold records the reason why file must not replace the current revision.
func (s *slot) hold(reason string) {
	s.record.Held, s.record.Reason = s.file.Digest, reason
}

// awaits reports whether the catalog still has to ask file for its description, and may ask it.
func (s *slot) awaits() bool { return s.refused == "" && s.untrusted == "" && s.file.pending() }

// expectation returns the sources of the name that file is expected to have. trusted is the name
// under which the operator trusted it.
func (s *slot) expectation(pins manifest.Lock, trusted string) expectation {
	e := expectation{pins: pins, trusted: trusted, earlier: []string{s.record.Current, s.record.Previous}}
	if s.current != nil {
		e.current = s.current.Info.Name
	}
	return e
}

func (s *slot) renamed() bool { return s.file.Info.Name != s.current.Info.Name }

// candidate returns the revision that could replace the current one; nil if none could.
func (s *slot) candidate() *Plugin {
	if s.current == nil || s.refused != "" || s.untrusted != "" || !s.file.usable() || s.file.Digest == s.current.Digest ||
		s.file.Digest == s.record.Held || s.renamed() {
		return nil
	}
	return s.file
}

// show returns the slot as one plugin: the revision in service, or a plugin with the reason why
// none is.
func (s *slot) show(pins manifest.Lock) *Plugin {
	var p Plugin
	switch {
	case s.current != nil:
		p = *s.current
		if warning := s.warning(); warning != "" {
			p.Warnings, p.FileWarning = append(p.Warnings[:len(p.Warnings):len(p.Warnings)], warning), warning
		}
	case s.file == nil:
		p = *unreadable(s.source, s.problem, s.fault)
	case s.refused != "":
		p = *s.file.withProblem(s.refused)
	case s.untrusted != "":
		p = *s.file.withProblem(s.untrusted)
		p.Untrusted = true
	default:
		p = *s.file
	}
	p.Refusal, p.Pin, p.real = s.told, pins[p.Info.Name].Digest, s.real
	return &p
}

// refusal returns the reason why file is not used. It is empty if file is broken, or if an operator
// rolled it back.
func (s *slot) refusal() Refusal {
	switch {
	case s.file == nil && s.current == nil:
		return Refusal{}
	case s.file == nil:
		return Refusal{Reason: s.problem}
	case s.current != nil && s.file.Digest == s.current.Digest:
		return Refusal{}
	case s.refused != "":
		return Refusal{Digest: s.file.Digest, Reason: s.refused, Locked: s.file.Pinned, Name: s.file.knownName()}
	case s.untrusted != "":
		return Refusal{Digest: s.file.Digest, Reason: s.untrusted, Name: s.file.knownName()}
	case s.current == nil || s.file.usable():
		return Refusal{}
	case s.file.pending() && s.told.Digest == s.file.Digest && !s.told.Locked:
		return s.told // it is only asked again
	case s.file.pending():
		return Refusal{}
	}
	return Refusal{Digest: s.file.Digest, Reason: s.file.Problem}
}

// warning returns the reason why file is not in service. It is empty if file is in service, or will
// be soon.
func (s *slot) warning() string {
	name := s.current.Info.Name
	switch {
	case s.file == nil:
		return fmt.Sprintf("%s stays in service as it was: %s", name, s.problem)
	case s.file.Digest == s.current.Digest:
		return ""
	case s.refused != "":
		return s.refused
	case s.untrusted != "":
		return fmt.Sprintf("its file has changed to %s, which is not used: %s", s.file.Digest, s.untrusted)
	case s.file.pending():
		return fmt.Sprintf("its file has changed to %s, which is being asked what it is", s.file.Digest)
	case !s.file.usable():
		return fmt.Sprintf("its file has changed to %s, which is not used: %s", s.file.Digest, s.file.Problem)
	case s.file.Digest == s.record.Held:
		return fmt.Sprintf("its file has changed to %s, which is not used: %s; `toolhost upgrade %s` tries it",
			s.file.Digest, s.record.Reason, name)
	case s.renamed():
		return fmt.Sprintf("its file has changed to %s, which is not used: it says that its name is %q, which is taken",
			s.file.Digest, s.file.Info.Name)
	}
	return ""
}
