package hostpb

import (
	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/toolpb"
	"github.com/toolhost/toolhost/tool"
)

// FromPlugin converts a plugin as a toolhost knows it.
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
		LastExit:    toolpb.FromExit(p.LastExit),
		Warnings:    valids(p.Warnings),

		RecentExits:    fromExits(p.RecentExits),
		RetryTime:      toolpb.FromTime(p.RetryTime),
		PreviousDigest: valid(p.PreviousDigest),
	}
}

func fromExits(exits []tool.PluginExit) []*toolhostv1.PluginExit {
	var out []*toolhostv1.PluginExit
	for _, e := range exits {
		out = append(out, &toolhostv1.PluginExit{
			Instance: valid(e.Instance), Time: toolpb.FromTime(e.Time), Exit: toolpb.FromExit(&e.Exit), Expected: e.Expected,
		})
	}
	return out
}

func toExits(exits []*toolhostv1.PluginExit) []tool.PluginExit {
	var out []tool.PluginExit
	for _, e := range exits {
		noted := tool.PluginExit{Instance: e.GetInstance(), Time: toolpb.ToTime(e.GetTime()), Expected: e.GetExpected()}
		if exit := toolpb.ToExit(e.GetExit()); exit != nil {
			noted.Exit = *exit
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
	}
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
