// Package authz decides what a principal may do: rights, roles that group them, and bindings that
// give roles to principals. docs/adr/0030-identity.md describes the design.
//
// The package does not know RPCs. A proto option states the right that an RPC needs, and
// server/internal/access/gate enforces it.
package authz

import (
	"slices"
)

// Right permits a group of RPCs, or an act within one. proto/toolhost/tool/v1/right.proto lists
// which RPC needs which right, and describes the rights.
type Right string

// The rights.
const (
	ToolsList      Right = "tools.list"
	ToolsCall      Right = "tools.call"
	CallsOwn       Right = "calls.own"
	CallsApprove   Right = "calls.approve"
	CallsList      Right = "calls.list"
	PluginsRead    Right = "plugins.read"
	PluginsOperate Right = "plugins.operate"
	PluginsChange  Right = "plugins.change"
	ConfigRead     Right = "config.read"
	ConfigReload   Right = "config.reload"
	EventsRead     Right = "events.read"
	LogsRead       Right = "logs.read"
	StatsRead      Right = "stats.read"
	AuditRead      Right = "audit.read"
	RunsStart      Right = "runs.start"
	RunsOwn        Right = "runs.own"
	RunsList       Right = "runs.list"
	RunsApprove    Right = "runs.approve"
	Delegate       Right = "delegate"
	VersionRead    Right = "version.read"
	ReflectionRead Right = "reflection.read"
	SelfRead       Right = "self.read"
	LoginsOwn      Right = "logins.own"
	RunsCustomize  Right = "runs.customize"
	RunsDelete     Right = "runs.delete"
)

// Rights returns all rights, in the order of the constants.
func Rights() []Right {
	return []Right{
		ToolsList, ToolsCall, CallsOwn, CallsApprove, CallsList, PluginsRead, PluginsOperate, PluginsChange, ConfigRead, ConfigReload,
		EventsRead, LogsRead, StatsRead, AuditRead, RunsStart, RunsOwn, RunsList, RunsApprove, Delegate, VersionRead, ReflectionRead, SelfRead, LoginsOwn, RunsCustomize, RunsDelete,
	}
}

// Global reports whether an act with this right affects all tenants, so that only a binding in all
// tenants gives it.
func (r Right) Global() bool {
	switch r {
	case PluginsOperate, PluginsChange, ConfigRead, ConfigReload:
		return true
	}
	return false
}

// Distributed reports whether the services decide in which tenants a caller may use this right, so
// that a server admits a caller that has the right in any tenant. For other rights, a server admits
// only callers that have the right in their own tenant.
func (r Right) Distributed() bool {
	switch r {
	case ToolsList, ToolsCall, CallsOwn, CallsApprove, CallsList, Delegate, PluginsRead, EventsRead, LogsRead, StatsRead, AuditRead, RunsList, RunsApprove, RunsDelete, VersionRead, ReflectionRead:
		return true
	}
	return false
}

// Innate reports whether every principal has this right without a role. A principal needs it to
// find out why it has no other right.
func (r Right) Innate() bool { return r == SelfRead }

// roles has the rights of each role, except of admin, which has all rights but Delegate.
var roles = map[string][]Right{
	"caller":   {ToolsList, ToolsCall, CallsOwn, LoginsOwn, RunsStart, RunsOwn, VersionRead, ReflectionRead},
	"builder":  {ToolsList, ToolsCall, CallsOwn, LoginsOwn, RunsStart, RunsOwn, RunsCustomize, VersionRead, ReflectionRead},
	"approver": {ToolsList, CallsApprove, RunsList, RunsApprove, VersionRead, ReflectionRead},
	"author":   {ToolsList, ToolsCall, CallsOwn, LoginsOwn, PluginsRead, PluginsChange, EventsRead, LogsRead, VersionRead, ReflectionRead},
	"operator": {
		ToolsList, CallsList, PluginsRead, PluginsOperate, PluginsChange, ConfigRead, ConfigReload, EventsRead, LogsRead, StatsRead,
		RunsList, VersionRead, ReflectionRead,
	},
	"auditor":  {ToolsList, CallsList, PluginsRead, EventsRead, StatsRead, AuditRead, RunsList, VersionRead, ReflectionRead},
	"delegate": {Delegate, ToolsList, ToolsCall, CallsOwn, VersionRead},
}

// Roles returns the names of all roles, sorted.
func Roles() []string {
	names := []string{"admin"}
	for name := range roles {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// IsRole reports whether there is a role of this name.
func IsRole(name string) bool { return name == "admin" || roles[name] != nil }

// Has reports whether a role has a right. An unknown role has none.
func Has(role string, right Right) bool {
	if role == "admin" {
		return right != Delegate
	}
	return slices.Contains(roles[role], right)
}
