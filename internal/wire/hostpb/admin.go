package hostpb

import (
	"google.golang.org/protobuf/proto"

	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/text/crashoutput"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/tool"
)

// FromPlugin converts a plugin. It clips the last output of ended processes; see newestStderr.
func FromPlugin(p tool.PluginInfo) *toolhostv1.Plugin {
	return &toolhostv1.Plugin{
		Name:        valid(p.Name),
		Version:     valid(p.Version),
		Description: valid(p.Description),
		Path:        valid(p.Path),
		Digest:      valid(p.Digest),
		State:       fromPluginState(p.State),
		Reason:      valid(p.Reason),
		Tools:       valids(p.Tools),
		Instances:   uint32Of(p.Instances),
		Launches:    p.Launches,
		LastExit:    fromExit(p.LastExit, newestStderr),
		Warnings:    valids(p.Warnings),

		RecentExits:    fromExits(p.RecentExits),
		RetryTime:      toolpb.FromTime(p.RetryTime),
		PreviousDigest: valid(p.PreviousDigest),
		PinnedDigest:   valid(p.PinnedDigest),
		Refusal:        fromRefusal(p.Refusal),
		Filters:        valids(p.Filters),
		OwnFilters:     fromOwnFilters(p.OwnFilters),
		Permissions:    fromPermissions(p.Permissions),
		Ungranted:      fromUngranted(p.Ungranted),
		Workspace:      toolpb.FromAccess(p.Workspace), WorkspaceBackend: valid(p.WorkspaceBackend),
		Isolation: valid(p.Isolation),
		Sdk:       toolpb.FromSDK(p.SDK),
	}
}

func fromRefusal(r *tool.PluginRefusal) *toolhostv1.PluginRefusal {
	if r == nil {
		return nil
	}
	return &toolhostv1.PluginRefusal{Digest: valid(r.Digest), Reason: valid(r.Reason), Locked: r.Locked, Name: valid(r.Name)}
}

func toRefusal(r *toolhostv1.PluginRefusal) *tool.PluginRefusal {
	if r == nil {
		return nil
	}
	return &tool.PluginRefusal{Digest: r.GetDigest(), Reason: r.GetReason(), Locked: r.GetLocked(), Name: r.GetName()}
}

func toExits(exits []*toolhostv1.PluginExit) []tool.PluginExit {
	var out []tool.PluginExit
	for _, e := range exits {
		noted := tool.PluginExit{Instance: e.GetInstance(), Time: toolpb.ToTime(e.GetTime()), Expected: e.GetExpected(), Tenant: e.GetTenant(), HiddenCalls: int(e.GetHiddenCalls()), Unhealthy: e.GetUnhealthy()}
		if exit := toolpb.ToExit(e.GetExit()); exit != nil {
			noted.Exit = *exit
		}
		for _, c := range e.GetCalls() {
			noted.Calls = append(noted.Calls, tool.ExitCall{
				CallID: c.GetCallId(), Tool: c.GetTool(), Session: c.GetSession(), Principal: c.GetPrincipal(),
				StartTime: toolpb.ToTime(c.GetStartTime()), ArgumentsDigest: c.GetArgumentsDigest(),
			})
		}
		out = append(out, noted)
	}
	return out
}

// ToPlugin converts a plugin.
func ToPlugin(p *toolhostv1.Plugin) tool.PluginInfo {
	return tool.PluginInfo{
		Name:        p.GetName(),
		Version:     p.GetVersion(),
		Description: p.GetDescription(),
		Path:        p.GetPath(),
		Digest:      p.GetDigest(),
		State:       toPluginState(p.GetState()),
		Reason:      p.GetReason(),
		Tools:       p.GetTools(),
		Instances:   int(p.GetInstances()),
		Launches:    p.GetLaunches(),
		LastExit:    toolpb.ToExit(p.GetLastExit()),
		Warnings:    p.GetWarnings(),

		RecentExits:    toExits(p.GetRecentExits()),
		RetryTime:      toolpb.ToTime(p.GetRetryTime()),
		PreviousDigest: p.GetPreviousDigest(),
		PinnedDigest:   p.GetPinnedDigest(),
		Refusal:        toRefusal(p.GetRefusal()),
		Filters:        p.GetFilters(),
		OwnFilters:     toOwnFilters(p.GetOwnFilters()),
		Permissions:    toPermissions(p.GetPermissions()),
		Ungranted:      toUngranted(p.GetUngranted()),
		Workspace:      toolpb.ToAccess(p.GetWorkspace()), WorkspaceBackend: p.GetWorkspaceBackend(),
		Isolation: p.GetIsolation(),
		SDK:       toolpb.ToSDK(p.GetSdk()),
	}
}

// FromInstance converts a running plugin process.
func FromInstance(i tool.InstanceInfo) *toolhostv1.Instance {
	return &toolhostv1.Instance{
		Id:         valid(i.ID),
		Plugin:     valid(i.Plugin),
		State:      fromInstanceState(i.State),
		Pid:        int32Of(i.PID),
		Calls:      uint32Of(i.Calls),
		TotalCalls: i.TotalCalls,
		StartTime:  toolpb.FromTime(i.StartTime),
		RssBytes:   i.RSSBytes,
		Digest:     valid(i.Digest),
		Tenant:     valid(i.Tenant),
		Limits:     fromLimits(i.Limits),
		Sandbox:    fromSandbox(i.Sandbox),
	}
}

func fromLimits(limits []tool.EffectiveLimit) []*toolhostv1.EffectiveLimit {
	var out []*toolhostv1.EffectiveLimit
	for _, l := range limits {
		out = append(out, &toolhostv1.EffectiveLimit{
			Name: valid(l.Name), Value: valid(l.Value), Mechanism: valid(l.Mechanism), Note: valid(l.Note),
		})
	}
	return out
}

func toLimits(limits []*toolhostv1.EffectiveLimit) []tool.EffectiveLimit {
	var out []tool.EffectiveLimit
	for _, l := range limits {
		out = append(out, tool.EffectiveLimit{
			Name: l.GetName(), Value: l.GetValue(), Mechanism: l.GetMechanism(), Note: l.GetNote(),
		})
	}
	return out
}

// ToInstance converts a running plugin process.
func ToInstance(i *toolhostv1.Instance) tool.InstanceInfo {
	return tool.InstanceInfo{
		ID:         i.GetId(),
		Plugin:     i.GetPlugin(),
		State:      toInstanceState(i.GetState()),
		PID:        int(i.GetPid()),
		Calls:      int(i.GetCalls()),
		TotalCalls: i.GetTotalCalls(),
		StartTime:  toolpb.ToTime(i.GetStartTime()),
		RSSBytes:   i.GetRssBytes(),
		Digest:     i.GetDigest(),
		Tenant:     i.GetTenant(),
		Limits:     toLimits(i.GetLimits()),
		Sandbox:    toSandbox(i.GetSandbox()),
	}
}

// FromRestarted converts the result of a restart.
func FromRestarted(r tool.Restarted) *toolhostv1.RestartResponse {
	return &toolhostv1.RestartResponse{Stopped: valids(r.Stopped), Started: valids(r.Started)}
}

// ToRestarted converts the result of a restart.
func ToRestarted(r *toolhostv1.RestartResponse) tool.Restarted {
	return tool.Restarted{Stopped: r.GetStopped(), Started: r.GetStarted()}
}

const (
	// newestStderr and olderStderr limit the bytes of standard error in an exit. A plugin may store
	// hundreds of kilobytes for each of its exits. The end of the output is enough to see what
	// happened; the log contains the rest.
	newestStderr = 16 << 10
	olderStderr  = 1 << 10
)

// FromConditions converts conditions.
func FromConditions(conditions []tool.Condition) (messages []*toolhostv1.Condition) {
	for _, c := range conditions {
		messages = append(messages, &toolhostv1.Condition{Name: c.Name, Message: c.Message, Problem: c.Problem})
	}
	return messages
}

// ToConditions converts the conditions of a response.
func ToConditions(resp *toolhostv1.ListPluginsResponse) (conditions []tool.Condition) {
	for _, m := range resp.GetConditions() {
		conditions = append(conditions, tool.Condition{Name: m.GetName(), Message: m.GetMessage(), Problem: m.GetProblem()})
	}
	return conditions
}

// FromPlugins converts all plugins into one message. If the message would be too large, it drops
// more of the last output, and in the end all exits except the last one of each plugin.
func FromPlugins(plugins []tool.PluginInfo) *toolhostv1.ListPluginsResponse {
	resp := &toolhostv1.ListPluginsResponse{}
	for _, p := range plugins {
		resp.Plugins = append(resp.Plugins, FromPlugin(p))
	}
	if proto.Size(resp) > maxEventBytes {
		clip(resp, olderStderr, 0)
	}
	if proto.Size(resp) > maxEventBytes {
		for _, p := range resp.Plugins {
			p.RecentExits = nil
		}
		clip(resp, 0, 0)
	}
	return resp
}

// clip limits the bytes of standard error in the newest and in older exits.
func clip(resp *toolhostv1.ListPluginsResponse, newest, older int) {
	clipExit := func(exit *toolv1.Exit, limit int) {
		if exit != nil {
			exit.LastStderr = crashoutput.Shorten(exit.LastStderr, limit)
		}
	}
	for _, p := range resp.GetPlugins() {
		clipExit(p.GetLastExit(), newest)
		limit := newest
		for _, e := range p.GetRecentExits() {
			clipExit(e.GetExit(), limit)
			limit = older
		}
	}
}

// fromExit converts an exit with at most limit bytes of standard error. nil stays nil.
func fromExit(e *tool.Exit, limit int) *toolv1.Exit {
	if e == nil {
		return nil
	}
	shortened := *e
	shortened.LastStderr = crashoutput.Shorten(e.LastStderr, limit)
	return toolpb.FromExit(&shortened)
}

func fromExits(exits []tool.PluginExit) []*toolhostv1.PluginExit {
	var out []*toolhostv1.PluginExit
	limit := newestStderr
	for _, e := range exits {
		out = append(out, &toolhostv1.PluginExit{
			Instance: valid(e.Instance), Time: toolpb.FromTime(e.Time), Exit: fromExit(&e.Exit, limit), Expected: e.Expected,
			Calls: fromExitCalls(e.Calls), Tenant: valid(e.Tenant), HiddenCalls: uint32Of(e.HiddenCalls), Unhealthy: e.Unhealthy,
		})
		limit = olderStderr
	}
	return out
}

func fromExitCalls(calls []tool.ExitCall) []*toolhostv1.ExitCall {
	var out []*toolhostv1.ExitCall
	for _, c := range calls {
		out = append(out, &toolhostv1.ExitCall{
			CallId: valid(c.CallID), Tool: valid(c.Tool), Session: valid(c.Session), Principal: valid(c.Principal),
			StartTime: toolpb.FromTime(c.StartTime), ArgumentsDigest: valid(c.ArgumentsDigest),
		})
	}
	return out
}

func fromSandbox(s *tool.Sandbox) *toolhostv1.Sandbox {
	if s == nil {
		return nil
	}
	out := &toolhostv1.Sandbox{
		Mode: valid(s.Mode), Network: s.Network, Workspace: toolpb.FromAccess(s.Workspace), WorkspaceBackend: valid(s.WorkspaceBackend),
		Read: valids(s.Read), Write: valids(s.Write),
	}
	for _, w := range s.Layers {
		out.Layers = append(out.Layers, &toolhostv1.SandboxLayer{
			Name: valid(w.Name), Effective: w.Effective, Mechanism: valid(w.Mechanism), Note: valid(w.Note),
		})
	}
	return out
}

func toSandbox(s *toolhostv1.Sandbox) *tool.Sandbox {
	if s == nil {
		return nil
	}
	out := &tool.Sandbox{
		Mode: s.GetMode(), Network: s.GetNetwork(), Workspace: toolpb.ToAccess(s.GetWorkspace()), WorkspaceBackend: s.GetWorkspaceBackend(),
		Read: s.GetRead(), Write: s.GetWrite(),
	}
	for _, w := range s.GetLayers() {
		out.Layers = append(out.Layers, tool.SandboxLayer{
			Name: w.GetName(), Effective: w.GetEffective(), Mechanism: w.GetMechanism(), Note: w.GetNote(),
		})
	}
	return out
}

func fromUngranted(all []tool.Ungranted) []*toolhostv1.Ungranted {
	var out []*toolhostv1.Ungranted
	for _, u := range all {
		out = append(out, &toolhostv1.Ungranted{Request: valid(u.Request), Grant: valid(u.Grant)})
	}
	return out
}

func toUngranted(all []*toolhostv1.Ungranted) []tool.Ungranted {
	var out []tool.Ungranted
	for _, u := range all {
		out = append(out, tool.Ungranted{Request: u.GetRequest(), Grant: u.GetGrant()})
	}
	return out
}

func fromPermissions(p *tool.Permissions) *toolv1.Permissions {
	if p == nil {
		return nil
	}
	return toolpb.FromPermissions(*p)
}

func toPermissions(p *toolv1.Permissions) *tool.Permissions {
	if p == nil {
		return nil
	}
	asked := toolpb.ToPermissions(p)
	return &asked
}

func fromOwnFilters(own []tool.OwnFilter) (all []*toolhostv1.OwnFilter) {
	for _, f := range own {
		all = append(all, &toolhostv1.OwnFilter{Name: valid(f.Name), Tools: valids(f.Tools)})
	}
	return all
}

func toOwnFilters(own []*toolhostv1.OwnFilter) (all []tool.OwnFilter) {
	for _, f := range own {
		all = append(all, tool.OwnFilter{Name: f.GetName(), Tools: f.GetTools()})
	}
	return all
}
