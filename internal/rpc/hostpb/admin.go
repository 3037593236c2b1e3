package hostpb

import (
	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/rpc/toolpb"
	"github.com/toolhost/toolhost/tool"
)

// FromPlugin converts a plugin as a toolhost knows it. Of what its processes said last, a bounded part is kept, the end.
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
		Permissions:    fromPermissions(p.Permissions),
		Ungranted:      fromUngranted(p.Ungranted),
		Isolation:      valid(p.Isolation),
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
		noted := tool.PluginExit{Instance: e.GetInstance(), Time: toolpb.ToTime(e.GetTime()), Expected: e.GetExpected()}
		if exit := toolpb.ToExit(e.GetExit()); exit != nil {
			noted.Exit = *exit
		}
		for _, c := range e.GetCalls() {
			noted.Calls = append(noted.Calls, tool.ExitCall{CallID: c.GetCallId(), Tool: c.GetTool(), Session: c.GetSession(), Principal: c.GetPrincipal()})
		}
		out = append(out, noted)
	}
	return out
}

// ToPlugin converts a plugin as a toolhost knows it.
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
		Permissions:    toPermissions(p.GetPermissions()),
		Ungranted:      toUngranted(p.GetUngranted()),
		Isolation:      p.GetIsolation(),
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
		Limits:     toLimits(i.GetLimits()),
		Sandbox:    toSandbox(i.GetSandbox()),
	}
}

// FromRestarted converts what a restart did.
func FromRestarted(r tool.Restarted) *toolhostv1.RestartResponse {
	return &toolhostv1.RestartResponse{Stopped: valids(r.Stopped), Started: valids(r.Started)}
}

// ToRestarted converts what a restart did.
func ToRestarted(r *toolhostv1.RestartResponse) tool.Restarted {
	return tool.Restarted{Stopped: r.GetStopped(), Started: r.GetStarted()}
}
