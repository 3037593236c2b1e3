package lifecycle

import (
	"fmt"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// crashed counts a crash. The first crash in a row has no consequence, further ones cause longer
// and longer backoffs, and too many of them a quarantine.
func (s *state) crashed(now time.Time, in *Instance, reason string) {
	switch {
	case s.health.quarantine != "":
		if in.probe {
			s.enterQuarantine(now, "a probe crashed: "+reason)
		}
		return
	case in.Revision != s.revision:
		return // another executable takes the calls now
	}
	stable := !in.ReadyAt.IsZero() && now.Sub(in.ReadyAt) >= s.cfg.StableAfter
	if s.health.count(now, stable) {
		s.enterQuarantine(now, fmt.Sprintf("it crashed %d times in %v, the last time: %s", len(s.health.crashes), s.cfg.CrashWindow, reason))
		return
	}
	if s.health.streak < 2 {
		return // the first restart is immediate
	}
	s.health.backoff = now.Add(s.health.pause())
	s.outbox.add(Action{Event: &Event{Time: now, Type: EventBackingOff, Revision: s.revision, Reason: reason, Until: s.health.backoff}})
}

// enterQuarantine quarantines the plugin: it takes no calls until an operator clears the
// quarantine, a probe succeeds, or another revision replaces it. An instance that is starting in
// order to replace the others continues.
func (s *state) enterQuarantine(now time.Time, reason string) {
	s.health.quarantine = reason
	s.health.scheduleProbe(now)
	s.outbox.add(Action{Event: &Event{Time: now, Type: EventQuarantined, Revision: s.revision, Reason: reason, Until: s.health.probeAt}})
	for _, in := range s.pool.order {
		if !in.replaces {
			s.drain(now, in, tool.InstanceDraining, "its plugin is quarantined")
		}
	}
	s.rejectAll(s.refusal(now))
}

// enable ends a quarantine and a backoff.
func (s *state) enable(now time.Time, reason string) {
	s.health.endQuarantine()
	for _, in := range s.pool.order {
		in.probe = false
	}
	s.event(now, EventEnabled, nil, reason)
}

// probeDue returns when a quarantined plugin has to be probed. Zero means that no probe is due, or
// that an existing instance already serves as one.
func (s *state) probeDue() time.Time {
	if s.health.quarantine == "" || s.paused || s.disabled != "" {
		return time.Time{}
	}
	if ready, starting := s.pool.counts(); ready+starting > 0 {
		return time.Time{}
	}
	return s.health.probeAt
}

// startProbe launches an instance of a quarantined plugin if its time has come. The instance takes
// no calls, so the probe puts no call at risk.
func (s *state) startProbe(now time.Time) {
	if due := s.probeDue(); due.IsZero() || now.Before(due) {
		return
	}
	s.health.probes++
	s.health.probeAt = time.Time{}
	s.event(now, EventProbing, nil, "")
	in := s.launch(now, s.revision, "")
	in.probe = true
}

// untilProven returns how long it takes until a quarantined plugin is known to work, at best; 0:
// nothing is going to try.
func (s *state) untilProven(now time.Time) time.Duration {
	if s.health.probeAt.After(now) {
		return s.health.probeAt.Sub(now) + s.cfg.StableAfter
	}
	for _, in := range s.pool.order {
		if in.probe && in.State == tool.InstanceReady {
			return max(s.cfg.StableAfter-now.Sub(in.ReadyAt), 0)
		}
	}
	if s.cfg.ProbeAfter < 0 {
		return 0
	}
	return s.cfg.StableAfter
}
