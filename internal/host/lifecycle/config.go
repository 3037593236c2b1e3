package lifecycle

import (
	"cmp"
	"time"
)

// Isolation is what calls may share.
type Isolation string

// The kinds of isolation.
const (
	Shared     Isolation = "shared"  // a pool of processes for all calls
	PerSession Isolation = "session" // a process for each session
	PerCall    Isolation = "call"    // a process for each call, taken from a prewarmed pool
)

// Config bounds what a Machine does. The zero value of each field is the default; so is a value
// below zero, where the field does not say more.
type Config struct {
	Isolation           Isolation     // "": Shared
	MinInstances        int           // Shared: kept once the plugin is in use, and not reaped; 0: none
	MaxInstances        int           // at most so many that are not ending; 0: 1 if Shared, else 16
	Prewarmed           int           // PerCall: processes that wait for calls once the plugin is in use; 0: 1; below 0: none
	RefillAfter         time.Duration // PerCall: what a call took that is alone is replaced at its end, or after so long; 0: 25 ms; below 0: at once
	MaxCallsPerInstance int           // at the same time; 0: no bound; PerCall: always 1
	MaxQueue            int           // calls that wait for an instance; 0: 1024
	IdleTimeout         time.Duration // after which an instance without calls is stopped; 0: 5 min; below 0: never
	RecycleAfterCalls   uint64        // an instance is replaced after so many calls; 0: never
	RecycleAfterAge     time.Duration // an instance is replaced when it is so old; 0: never
	DrainTimeout        time.Duration // after which a draining instance is stopped with its calls, unless it is replaced in good order; 0: 30 s
	InitialBackoff      time.Duration // the bound of the pause after the second crash in a row; it doubles; 0: 200 ms
	MaxBackoff          time.Duration // 0: 30 s
	MaxCrashes          int           // in CrashWindow, after which the plugin is quarantined; 0: 5
	CrashWindow         time.Duration // 0: 10 min
	ProbeAfter          time.Duration // after which a quarantined plugin is tried once; 0: 5 min; below 0: never
	StableAfter         time.Duration // an instance that lived so long ends a row of crashes, and a probe; 0: 10 s
}

// maxInstances is how many instances run at most if they are not shared: a session or call each,
// and a small computer.
const maxInstances = 16

func (c Config) withDefaults() Config {
	c.Isolation = cmp.Or(c.Isolation, Shared)
	most := maxInstances
	if c.Isolation == Shared {
		most = 1
	}
	c.MinInstances = max(c.MinInstances, 0)
	c.MaxInstances = max(positive(c.MaxInstances, most), c.MinInstances)
	c.MaxCallsPerInstance = max(c.MaxCallsPerInstance, 0)
	c.MaxQueue = positive(c.MaxQueue, 1024)
	c.IdleTimeout = cmp.Or(c.IdleTimeout, 5*time.Minute)
	c.DrainTimeout = positive(c.DrainTimeout, 30*time.Second)
	c.InitialBackoff = positive(c.InitialBackoff, 200*time.Millisecond)
	c.MaxBackoff = positive(c.MaxBackoff, 30*time.Second)
	c.MaxCrashes = positive(c.MaxCrashes, 5)
	c.CrashWindow = positive(c.CrashWindow, 10*time.Minute)
	c.ProbeAfter = cmp.Or(c.ProbeAfter, 5*time.Minute)
	c.StableAfter = positive(c.StableAfter, 10*time.Second)
	switch c.Isolation {
	case PerCall:
		c.MaxCallsPerInstance = 1
		c.Prewarmed = max(cmp.Or(c.Prewarmed, 1), 0)
		c.RefillAfter = cmp.Or(c.RefillAfter, 25*time.Millisecond)
		c.MinInstances, c.RecycleAfterCalls = 0, 1
	case PerSession:
		c.MinInstances, c.Prewarmed = 0, 0
	default:
		c.Prewarmed = 0
	}
	return c
}

// positive returns n, or otherwise if n is not above zero.
func positive[N int | time.Duration](n, otherwise N) N {
	if n > 0 {
		return n
	}
	return otherwise
}
