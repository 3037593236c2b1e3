package lifecycle

import (
	"cmp"
	"time"
)

// Isolation says which calls may share a process.
type Isolation string

// The kinds of isolation.
const (
	Shared       Isolation = "shared"    // all calls share a pool of processes
	PerPrincipal Isolation = "principal" // each principal has a process
	PerSession   Isolation = "session"   // each session of each principal has a process
	PerCall      Isolation = "call"      // each call has a process, from a prewarmed pool
)

// keyed reports whether an instance belongs to the session that the driver names in Acquire. For
// PerPrincipal, the driver names the principal.
func (i Isolation) keyed() bool { return i == PerSession || i == PerPrincipal }

// Config contains the bounds and times of a Machine. The zero value of each field means the
// default. A negative value means the default too, unless the field says otherwise.
type Config struct {
	Isolation Isolation // "": Shared

	// MinInstances is how many instances a plugin in use keeps even when they are idle; 0: none. It
	// applies only to Shared.
	MinInstances int
	// MaxInstances bounds the instances that are starting or take calls; 0: 1 if Shared, else 16.
	MaxInstances int
	// MaxTotal bounds the processes of the plugin for all tenants together, also those that end; 0:
	// no bound. A Machine has one tenant and ignores it: the driver divides the processes.
	MaxTotal int
	// Prewarmed is how many idle processes a plugin in use keeps ready for calls; 0: 1; negative:
	// none. It applies only to PerCall.
	Prewarmed int
	// RefillAfter is the longest time for which the pool delays the replacement of a process that a
	// call took, if no other call runs. 0: 25 ms; negative: no delay. It applies only to PerCall.
	RefillAfter         time.Duration
	MaxCallsPerInstance int // at the same time; 0: no bound; PerCall: always 1
	MaxQueue            int // calls that wait for an instance; 0: 1024

	IdleTimeout       time.Duration // until an idle instance stops; 0: 5 min; negative: never
	RecycleAfterCalls uint64        // an instance is replaced after this number of calls; 0: never
	RecycleAfterAge   time.Duration // an instance is replaced at this age; 0: never
	// DrainTimeout is how long a draining instance may take to finish its calls; 0: 30 s. It does
	// not apply to an instance that a replacement drains.
	DrainTimeout time.Duration

	// InitialBackoff bounds the pause after the second crash in a row; 0: 200 ms. The bound doubles
	// with each further crash.
	InitialBackoff time.Duration
	MaxBackoff     time.Duration // 0: 30 s
	MaxCrashes     int           // in CrashWindow, before the plugin is quarantined; 0: 5
	CrashWindow    time.Duration // 0: 10 min
	ProbeAfter     time.Duration // until a quarantined plugin is probed; 0: 5 min; negative: never
	// StableAfter is how long an instance must live to end a row of crashes, or to pass a probe; 0:
	// 10 s.
	StableAfter time.Duration
}

// maxInstances is the default of MaxInstances if each session or call has an instance. It suits a
// small machine.
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
	case PerSession, PerPrincipal:
		c.MinInstances, c.Prewarmed = 0, 0
	default:
		c.Prewarmed = 0
	}
	return c
}

// positive returns n if it is positive, and otherwise if not.
func positive[N int | time.Duration](n, otherwise N) N {
	if n > 0 {
		return n
	}
	return otherwise
}
