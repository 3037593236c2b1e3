package client

import (
	"context"
	"iter"

	"google.golang.org/grpc"

	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/rpc/hostpb"
	"github.com/toolhost/toolhost/internal/rpc/link"
	"github.com/toolhost/toolhost/tool"
)

// WatchEvents returns what happened to plugins and instances: first the events that the toolhost has kept, the oldest
// first, then, if asked, new ones as they happen. Without q.Follow it ends when all are read. With it, it ends without
// an error when the toolhost stops, and with one as its last item when ctx ends or the connection breaks; to go on,
// watch again after the last event that came. Leaving the loop ends the watch.
func (a *Admin) WatchEvents(ctx context.Context, q tool.EventQuery) iter.Seq2[tool.PluginEvent, error] {
	open := func(ctx context.Context, conn grpc.ClientConnInterface) (grpc.ServerStreamingClient[toolhostv1.WatchEventsResponse], error) {
		return toolhostv1.NewAdminServiceClient(conn).WatchEvents(ctx, hostpb.FromEventQuery(q))
	}
	return link.Receive(ctx, a.link, open, func(resp *toolhostv1.WatchEventsResponse) tool.PluginEvent {
		return hostpb.ToPluginEvent(resp.GetEvent())
	})
}

// TailLogs returns what plugins wrote: first the lines that the toolhost has kept, the oldest first, then, if asked, new
// ones as they come. It ends as WatchEvents does. Errors: not_found.
func (a *Admin) TailLogs(ctx context.Context, q tool.LogQuery) iter.Seq2[tool.LogLine, error] {
	open := func(ctx context.Context, conn grpc.ClientConnInterface) (grpc.ServerStreamingClient[toolhostv1.TailLogsResponse], error) {
		return toolhostv1.NewAdminServiceClient(conn).TailLogs(ctx, hostpb.FromLogQuery(q))
	}
	return link.Receive(ctx, a.link, open, func(resp *toolhostv1.TailLogsResponse) tool.LogLine {
		return hostpb.ToLogLine(resp.GetLine())
	})
}

// Stats returns the statistics of a plugin's tools, or of all if plugin is empty, since the toolhost started; only of
// tools that were called, ordered by name. Errors: not_found.
func (a *Admin) Stats(ctx context.Context, plugin string) ([]tool.Stats, error) {
	resp, err := link.Invoke(ctx, a.link, func(conn grpc.ClientConnInterface) (*toolhostv1.GetStatsResponse, error) {
		return toolhostv1.NewAdminServiceClient(conn).GetStats(ctx, &toolhostv1.GetStatsRequest{Plugin: plugin})
	})
	if err != nil {
		return nil, err
	}
	stats := []tool.Stats{}
	for _, t := range resp.GetTools() {
		stats = append(stats, hostpb.ToStats(t))
	}
	return stats, nil
}
