package hostpb

import (
	"google.golang.org/protobuf/proto"

	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/rpc/toolpb"
	"github.com/toolhost/toolhost/tool"
)

const (
	// newestStderr and olderStderr are how many bytes of its last lines an exit keeps on its way. A plugin may have kept
	// hundreds of kilobytes of them for each of its exits; why it ended and the last of one tell what happened, the rest is
	// in its log.
	newestStderr = 16 << 10
	olderStderr  = 1 << 10
)

// FromPlugins converts all plugins into one message that fits: where all together would be too large, less is kept of
// what processes said last, in the end only how the last one of each ended.
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

// clip keeps that many bytes of what the newest and what older processes said last.
func clip(resp *toolhostv1.ListPluginsResponse, newest, older int) {
	clipExit := func(exit *toolv1.Exit, limit int) {
		if exit != nil {
			exit.LastStderr = tool.Exit{LastStderr: exit.LastStderr}.Shortened(limit).LastStderr
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

// fromExit converts how a process ended, with that many bytes of what it said last. nil is nil.
func fromExit(e *tool.Exit, limit int) *toolv1.Exit {
	if e == nil {
		return nil
	}
	shortened := e.Shortened(limit)
	return toolpb.FromExit(&shortened)
}

func fromExits(exits []tool.PluginExit) []*toolhostv1.PluginExit {
	var out []*toolhostv1.PluginExit
	limit := newestStderr
	for _, e := range exits {
		out = append(out, &toolhostv1.PluginExit{
			Instance: valid(e.Instance), Time: toolpb.FromTime(e.Time), Exit: fromExit(&e.Exit, limit), Expected: e.Expected,
			Calls: fromExitCalls(e.Calls),
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
		})
	}
	return out
}
