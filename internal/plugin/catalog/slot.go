package catalog

import (
	"fmt"

	"github.com/toolhost/toolhost/internal/plugin/manifest"
)

// slot is one source and the revisions of it that count. It is guarded by Catalog.mu; the Plugins in it do not change.
type slot struct {
	source  string
	problem string  // why what is there cannot be read; empty if it can
	file    *Plugin // what is there; nil if problem is set
	current *Plugin // in service; nil if none is
	refused string  // why the lock file does not allow what is there; empty if it does
	// untrusted is why the operator's trust does not reach what is there; empty if it does.
	untrusted string
	// otherNames says that the file has other names (hard links), under which it may be changed.
	otherNames bool
	told       Refusal // the last one, which holds while what is there is asked once more
	record     record
}

// apply takes over what was found.
func (s *slot) apply(r reading, pins manifest.Lock) {
	s.problem, s.file, s.otherNames = r.problem, r.file, r.otherNames
	if r.current != nil && (s.current == nil || !allowed(pins, s.current.Digest)) {
		s.current = r.current
		if s.record.Current != r.current.Digest { // the lock file allows only the one before
			s.record.Current, s.record.Previous = r.current.Digest, s.record.Current
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

// decide puts what is there into service where that takes nothing away from anybody: nothing is in service yet, or what
// is there has got another name, so that it is another plugin. taken reports whether a name is another source's.
func (s *slot) decide(pins manifest.Lock, taken func(name, source string) bool) {
	allowed := s.refused == "" && s.untrusted == "" && s.file.usable()
	// The lock file has changed. Where it allows what is there, and that is broken, the current one stays.
	if s.current != nil && pins != nil && !pins.Has(s.current.Digest) && (s.file == nil || s.refused != "") {
		s.current = nil
	}
	switch {
	case !allowed:
	case s.current == nil:
		s.activate(s.file)
	case s.current.Digest == s.file.Digest:
		s.current = s.file
		s.record.Current = s.file.Digest
		s.record.Held, s.record.Reason = "", ""
	case s.renamed() && s.record.Held == "" && !taken(s.file.Info.Name, s.source):
		s.activate(s.file)
	}
}

// activate puts a revision into service.
func (s *slot) activate(p *Plugin) {
	if s.record.Current != p.Digest {
		s.record.Previous = s.record.Current
	}
	s.current = p
	s.record.Current = p.Digest
	s.record.Held, s.record.Reason = "", ""
}

// hold keeps what is there from taking the current one's place, for a reason.
func (s *slot) hold(reason string) {
	s.record.Held, s.record.Reason = s.file.Digest, reason
}

// awaits reports whether what is there has yet to be asked what it is, and may be.
func (s *slot) awaits() bool { return s.refused == "" && s.untrusted == "" && s.file.pending() }

func (s *slot) renamed() bool { return s.file.Info.Name != s.current.Info.Name }

// candidate returns what could take the current one's place; nil if nothing could.
func (s *slot) candidate() *Plugin {
	if s.current == nil || s.refused != "" || s.untrusted != "" || !s.file.usable() || s.file.Digest == s.current.Digest ||
		s.file.Digest == s.record.Held || s.renamed() {
		return nil
	}
	return s.file
}

// show returns the slot as one plugin: what is in service, or why nothing is.
func (s *slot) show(pins manifest.Lock) *Plugin {
	var p Plugin
	switch {
	case s.current != nil:
		p = *s.current
		if warning := s.warning(); warning != "" {
			p.Warnings = append(p.Warnings[:len(p.Warnings):len(p.Warnings)], warning)
		}
	case s.file == nil:
		p = *unreadable(s.source, s.problem)
	case s.refused != "":
		p = *s.file.withProblem(s.refused)
	case s.untrusted != "":
		p = *s.file.withProblem(s.untrusted)
	default:
		p = *s.file
	}
	p.Refusal, p.Pin = s.told, pins[p.Info.Name].Digest
	return &p
}

// refusal says why what is there is not used, as far as that is not simply the plugin's problem. What somebody decided to
// hold back could be.
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
		return s.told // it is only asked once more
	case s.file.pending():
		return Refusal{}
	}
	return Refusal{Digest: s.file.Digest, Reason: s.file.Problem}
}

// warning says why what is there is not what is in service; empty if it is, or is about to be.
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
