package lifecycle

import (
	"math/rand/v2"
	"time"
)

// maxProbeDoublings bounds the pause between probes to 64 times the first pause.
const maxProbeDoublings = 6

// health counts the crashes of a plugin and stores the consequence: a backoff, or a quarantine with
// probes.
type health struct {
	cfg  *Config
	rand *rand.Rand

	streak     int         // crashes in a row
	crashes    []time.Time // in CrashWindow
	backoff    time.Time   // no launch before; zero: none
	quarantine string      // why the plugin is quarantined; empty: it is not
	probeAt    time.Time   // when a quarantined plugin is probed; zero: not by itself
	probes     int         // in this quarantine
}

// count records a crash, and reports whether there were too many. stable says that the instance had
// lived for StableAfter, which ends the series of crashes.
func (h *health) count(now time.Time, stable bool) (tooMany bool) {
	if stable {
		h.streak = 0
	}
	h.streak++
	h.crashes = append(h.crashes, now)
	for now.Sub(h.crashes[0]) > h.cfg.CrashWindow {
		h.crashes = h.crashes[1:]
	}
	return len(h.crashes) >= h.cfg.MaxCrashes
}

// pause returns how long to wait after the last crash. The time is random between 0 and a bound
// that doubles with each crash of the series, so that plugins that crashed together do not restart
// together.
func (h *health) pause() time.Duration {
	bound := h.cfg.InitialBackoff
	for i := 2; i < h.streak && bound < h.cfg.MaxBackoff; i++ {
		bound *= 2
	}
	return time.Duration(h.rand.Int64N(int64(min(bound, h.cfg.MaxBackoff))) + 1)
}

func (h *health) scheduleProbe(now time.Time) {
	h.probeAt = time.Time{}
	if h.cfg.ProbeAfter > 0 {
		h.probeAt = now.Add(h.cfg.ProbeAfter << min(h.probes, maxProbeDoublings))
	}
}

// forgetCrashes forgets the crashes and ends a backoff.
func (h *health) forgetCrashes() { h.crashes, h.streak, h.backoff = nil, 0, time.Time{} }

// endQuarantine ends a quarantine and a backoff.
func (h *health) endQuarantine() {
	h.quarantine, h.probeAt, h.probes = "", time.Time{}, 0
	h.forgetCrashes()
}
