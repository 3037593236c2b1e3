package config

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/host/lifecycle"
	"github.com/toolhost/toolhost/tool"
)

// Lifecycle returns the settings of the supervisor's state machine. A 0 in the settings stands for
// a word of the file, such as "never". It becomes the value of lifecycle.Config with that meaning.
func (s PluginSettings) Lifecycle() lifecycle.Config {
	const never, none = time.Duration(-1), -1
	return lifecycle.Config{
		Isolation:           s.Isolation,
		MinInstances:        s.MinInstances,
		MaxInstances:        s.MaxInstances,      // 0 means auto in both
		MaxTotal:            s.MaxTotalInstances, // 0 means unlimited in both
		Prewarmed:           cmp.Or(s.Prewarmed, none),
		MaxCallsPerInstance: s.MaxCallsPerInstance, // 0 means unlimited in both
		MaxQueue:            s.MaxQueue,
		IdleTimeout:         cmp.Or(s.IdleTimeout, never),
		RecycleAfterCalls:   uint64(s.RecycleAfterCalls), // 0 means never in both
		RecycleAfterAge:     s.RecycleAfterAge,           // 0 means never in both
		DrainTimeout:        s.DrainTimeout,
		InitialBackoff:      s.Backoff.Initial,
		MaxBackoff:          s.Backoff.Max,
		MaxCrashes:          cmp.Or(s.Quarantine.Crashes, math.MaxInt),
		CrashWindow:         s.Quarantine.Window,
		ProbeAfter:          cmp.Or(s.Quarantine.ProbeAfter, never),
		StableAfter:         s.StableAfter,
	}
}

// MayAsk returns what the tools of the plugin may ask.
func (s PluginSettings) MayAsk() (kinds []tool.QuestionKind) {
	for _, kind := range s.Ask {
		kinds = append(kinds, tool.QuestionKind(kind))
	}
	return kinds
}

// clone returns settings that share no memory with s.
func (s PluginSettings) clone() PluginSettings {
	s.Env, s.PassEnv, s.Ask = maps.Clone(s.Env), slices.Clone(s.PassEnv), slices.Clone(s.Ask)
	s.Sandbox.Read, s.Sandbox.Write = slices.Clone(s.Sandbox.Read), slices.Clone(s.Sandbox.Write)
	s.HTTP.Addresses = slices.Clone(s.HTTP.Addresses)
	return s
}
