package lifecycle

import (
	"fmt"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// crashed counts a crash and decides what follows: nothing after the first in a row, then longer and longer pauses,
// then quarantine.
func (m *Machine) crashed(now time.Time, in *Instance, reason string) {
	switch {
	case m.quarantine != "":
		if in.probe {
			m.isolate(now, "a probe crashed: "+reason)
		}
		return
	case in.Revision != m.revision:
		return // what takes the calls is another executable
	}
	if !in.ReadyAt.IsZero() && now.Sub(in.ReadyAt) >= m.cfg.StableAfter {
		m.row = 0
	}
	m.row++
	m.crashes = append(m.crashes, now)
	for now.Sub(m.crashes[0]) > m.cfg.CrashWindow {
		m.crashes = m.crashes[1:]
	}
	if len(m.crashes) >= m.cfg.MaxCrashes {
		m.isolate(now, fmt.Sprintf("it crashed %d times in %v, the last time: %s", len(m.crashes), m.cfg.CrashWindow, reason))
		return
	}
	if m.row < 2 {
		return // the first restart is immediate
	}
	m.backoff = now.Add(m.pause())
	m.do(Action{Event: &Event{Time: now, Type: EventBackingOff, Revision: m.revision, Reason: reason, Until: m.backoff}})
}

// pause returns how long to wait after the last crash in a row: with full jitter, so that plugins that fell together
// do not rise together.
func (m *Machine) pause() time.Duration {
	bound := m.cfg.InitialBackoff
	for i := 2; i < m.row && bound < m.cfg.MaxBackoff; i++ {
		bound *= 2
	}
	return time.Duration(m.rand.Int64N(int64(min(bound, m.cfg.MaxBackoff))) + 1)
}

// isolate quarantines the plugin: it takes no calls until an operator clears it, a probe lives, or it is replaced. What
// is on its way to replace it may come.
func (m *Machine) isolate(now time.Time, reason string) {
	m.quarantine = reason
	m.scheduleProbe(now)
	m.do(Action{Event: &Event{Time: now, Type: EventQuarantined, Revision: m.revision, Reason: reason, Until: m.probeAt}})
	for _, in := range m.order {
		if !in.replaces {
			m.drain(now, in, tool.InstanceDraining, "its plugin is quarantined")
		}
	}
	m.rejectAll(m.refusal(now))
}

// maxProbeDoublings bounds the pause between probes to 64 times the first.
const maxProbeDoublings = 6

func (m *Machine) scheduleProbe(now time.Time) {
	m.probeAt = time.Time{}
	if m.cfg.ProbeAfter > 0 {
		m.probeAt = now.Add(m.cfg.ProbeAfter << min(m.probes, maxProbeDoublings))
	}
}

// probeDue returns when a quarantined plugin is to be tried; zero if it is not, or an instance is there that shows it.
func (m *Machine) probeDue() time.Time {
	if m.quarantine == "" || m.paused || m.disabled != "" {
		return time.Time{}
	}
	if ready, starting := m.standing(); ready+starting > 0 {
		return time.Time{}
	}
	return m.probeAt
}

// probe tries a quarantined plugin once its time has come. The probe takes no calls: nobody's work is risked.
func (m *Machine) probe(now time.Time) {
	if due := m.probeDue(); due.IsZero() || now.Before(due) {
		return
	}
	m.probes++
	m.probeAt = time.Time{}
	m.event(now, EventProbing, nil, "")
	in := m.launch(now, m.revision, "")
	in.probe = true
}

// enable ends a quarantine and a backoff.
func (m *Machine) enable(now time.Time, reason string) {
	m.quarantine, m.probeAt, m.probes = "", time.Time{}, 0
	m.forgive()
	for _, in := range m.order {
		in.probe = false
	}
	m.event(now, EventEnabled, nil, reason)
}

// forgive forgets the crashes so far.
func (m *Machine) forgive() { m.crashes, m.row, m.backoff = nil, 0, time.Time{} }
