package config

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/toolhost/toolhost/internal/host/lifecycle"
)

// Lifecycle returns the part of the settings that says how instances are kept. A 0 of the settings means what the file
// calls it, such as "never"; it becomes what lifecycle.Config has for that.
func (s PluginSettings) Lifecycle() lifecycle.Config {
	const never, none = time.Duration(-1), -1
	return lifecycle.Config{
		Isolation:           s.Isolation,
		MinInstances:        s.MinInstances,
		MaxInstances:        s.MaxInstances, // 0 is auto on both sides
		Prewarmed:           cmp.Or(s.Prewarmed, none),
		MaxCallsPerInstance: s.MaxCallsPerInstance, // 0 is unlimited on both sides
		MaxQueue:            s.MaxQueue,
		IdleTimeout:         cmp.Or(s.IdleTimeout, never),
		RecycleAfterCalls:   uint64(s.RecycleAfterCalls), // 0 is never on both sides
		RecycleAfterAge:     s.RecycleAfterAge,           // here too
		DrainTimeout:        s.DrainTimeout,
		InitialBackoff:      s.Backoff.Initial,
		MaxBackoff:          s.Backoff.Max,
		MaxCrashes:          cmp.Or(s.Quarantine.Crashes, math.MaxInt),
		CrashWindow:         s.Quarantine.Window,
		ProbeAfter:          cmp.Or(s.Quarantine.ProbeAfter, never),
		StableAfter:         s.StableAfter,
	}
}

// clone returns settings that share nothing with s.
func (s PluginSettings) clone() PluginSettings {
	s.Env, s.PassEnv = maps.Clone(s.Env), slices.Clone(s.PassEnv)
	s.Sandbox.Read, s.Sandbox.Write = slices.Clone(s.Sandbox.Read), slices.Clone(s.Sandbox.Write)
	return s
}
