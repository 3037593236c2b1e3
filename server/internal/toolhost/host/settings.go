package host

import (
	"cmp"
	"time"

	"github.com/toolhost/toolhost/server/internal/secrets"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/lifecycle"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/operator"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/question"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/throttle"
	"github.com/toolhost/toolhost/server/internal/toolhost/policy"
	"github.com/toolhost/toolhost/tool"
)

// Settings are the part of a Config that Reconfigure can replace while the host executes calls. The
// zero value has all defaults. A Settings must not change once a host has it. Its functions must be
// safe for concurrent use, and must always return the same for the same name.
type Settings struct {
	// WritableFolders are the absolute paths of the folders that plugins may write. Callers read
	// them, so that they do not use configuration files from there. The host itself does not use
	// them.
	WritableFolders []string
	// HiddenFolders are the absolute paths of folders that no sandboxed plugin may access, even if
	// they are in a writable folder. Callers may keep records there. The host itself does not use
	// them.
	HiddenFolders []string

	// Policy decides which calls may be made. Nil: dangerous tools need the approval of a person,
	// all others are allowed.
	Policy *policy.Policy
	// Filters are asked before calls in this order, and after calls in the reverse order.
	Filters []Filter
	// Secrets has the secrets of tools. A tool gets a secret if it declares the secret and its
	// plugin was granted it. The host redacts them in the output of plugins. The stores of all
	// Settings of a host must share one redactor, because a plugin may print a secret that a later
	// Settings does not have. Nil: there are none.
	Secrets *secrets.Store
	// Overrides are the operator's settings for tools. New does not read them: the catalog has had
	// its first ones since it was opened.
	Overrides catalog.Overrides

	// Observer receives reports about calls. Nil: the host reports nothing, at no cost.
	Observer Observer
	// PluginObserver receives reports about plugins and their instances. Nil: the host reports
	// nothing.
	PluginObserver PluginObserver

	// Quotas bound what tenants and principals use. Nil: nothing does, at no cost.
	Quotas *throttle.Quotas

	// Lifecycle configures the instances of a plugin. Nil: the defaults.
	Lifecycle func(plugin string) lifecycle.Config
	// Sandbox returns what the operator grants to a plugin. Nil: plugins run without a sandbox.
	Sandbox func(plugin string) tool.Sandbox
	// Variables returns the names of the environment variables that the operator passes to a plugin
	// or sets for it. Nil: none.
	Variables func(plugin string) []string
	// Disabled reports whether the operator disabled a plugin: it is listed, and its tools cannot
	// be called. Nil: no plugin is disabled.
	Disabled func(plugin string) bool

	// Approvals bounds standing approvals.
	Approvals ApprovalLimits

	// Asks returns what the operator permits the tools of a plugin to ask. Nil: nothing.
	Asks func(plugin string) []tool.QuestionKind
	// Questions bounds what tools ask.
	Questions question.Limits

	// MaxShown is how many bytes of text and JSON a result shows if its caller sets nothing; 0: 4
	// KiB.
	MaxShown int
	// KeepBadOutput lets results through that do not fit the output schema of their tool, with a
	// warning.
	KeepBadOutput    bool
	RefuseMisspelled bool          // refuses misspelled arguments instead of reporting them
	MaxArgumentBytes int           // of one call; 0: 16 MiB
	ArgumentsTimeout time.Duration // between two pieces of a call's arguments; 0: 2 min
	DefaultTimeout   time.Duration // for a call if its tool and its caller set none; 0: 30 s
	MaxTimeout       time.Duration // bounds every call; 0: 10 min
	YieldTimeout     time.Duration // until an instance ends whose tool ignores a cancel; 0: 5 s
	LaunchTimeout    time.Duration // from the launch of a process until it takes calls; 0: 30 s
}

// ApprovalLimits bound standing approvals. The zero value has all defaults.
type ApprovalLimits struct {
	Off          bool          // none is created or used; those that exist stay
	Longest      time.Duration // from the creation of an approval until it expires; 0: 30 days
	PerPrincipal int           // the approvals of one principal; 0: 100
	PerTenant    int           // the approvals of one tenant; 0: 1,000
}

func (s Settings) withDefaults() Settings {
	s.MaxShown = cmp.Or(s.MaxShown, 4<<10)
	s.MaxArgumentBytes = cmp.Or(s.MaxArgumentBytes, 16<<20)
	s.ArgumentsTimeout = cmp.Or(s.ArgumentsTimeout, 2*time.Minute)
	s.DefaultTimeout = cmp.Or(s.DefaultTimeout, 30*time.Second)
	s.MaxTimeout = cmp.Or(s.MaxTimeout, 10*time.Minute)
	s.YieldTimeout = cmp.Or(s.YieldTimeout, 5*time.Second)
	s.LaunchTimeout = cmp.Or(s.LaunchTimeout, 30*time.Second)
	s.Approvals.Longest = cmp.Or(s.Approvals.Longest, 30*24*time.Hour)
	s.Approvals.PerPrincipal = cmp.Or(s.Approvals.PerPrincipal, 100)
	s.Approvals.PerTenant = cmp.Or(s.Approvals.PerTenant, 1000)
	s.Questions.PerCall = cmp.Or(s.Questions.PerCall, 16)
	s.Questions.Bytes = cmp.Or(s.Questions.Bytes, 256<<10)
	s.Questions.MaxWait = cmp.Or(s.Questions.MaxWait, time.Hour)
	if s.Lifecycle == nil {
		s.Lifecycle = func(string) lifecycle.Config { return lifecycle.Config{} }
	}
	if s.Sandbox == nil {
		s.Sandbox = func(string) tool.Sandbox { return tool.Sandbox{Mode: "off"} }
	}
	if s.Variables == nil {
		s.Variables = func(string) []string { return nil }
	}
	if s.Disabled == nil {
		s.Disabled = func(string) bool { return false }
	}
	return s
}

// switchedOff returns an error if the operator disabled a plugin.
func (s *Settings) switchedOff(plugin string) error {
	if s.Disabled(plugin) {
		return operator.Disabled(plugin)
	}
	return nil
}

// Filter configures for which calls the host asks a filter. If neither Tools nor Tags are set, the
// host asks it for every call. Otherwise the host asks it for the tools that match an element of
// Tools or Tags.
type Filter struct {
	Name     string        // as the filter's plugin declares it
	Tools    []string      // names of tools, or patterns of path.Match
	Tags     []string      // tags of tools
	Optional bool          // if the filter fails or does not exist, the call continues without it
	Timeout  time.Duration // for one request to the filter; 0: 5 s

	own *catalog.Filter // see ownFilter; nil: the configuration has the filter
}

const defaultFilterTimeout = 5 * time.Second

func (f *Filter) timeout() time.Duration { return cmp.Or(f.Timeout, defaultFilterTimeout) }
