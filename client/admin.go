package client

import (
	"context"
	"encoding/json"
	"iter"
	"strings"

	"google.golang.org/grpc"

	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/wire/hostpb"
	"github.com/toolhost/toolhost/internal/wire/link"
	"github.com/toolhost/toolhost/tool"
)

// Admin inspects and controls the plugins of one toolhost, for operators; Client.Admin returns it.
// Its methods are safe for concurrent use. Errors are *tool.Error. Over TCP every method fails with
// the kind denied, because toolhost serves administration on unix sockets only.
type Admin struct {
	link   link.Route
	reason string // see Because
}

// Because returns an Admin whose Restart, Drain, Pause, Upgrade and Rollback give a reason, in at
// most tool.MaxReason bytes. toolhost writes it to the audit log, and shows it in events and
// Revisions.
func (a *Admin) Because(reason string) *Admin {
	return &Admin{link: a.link, reason: strings.ToValidUTF8(reason, "\uFFFD")}
}

// Plugins returns all plugins, including unusable ones, ordered by name.
func (a *Admin) Plugins(ctx context.Context) ([]tool.PluginInfo, error) {
	resp, err := a.listPlugins(ctx, &toolhostv1.ListPluginsRequest{})
	if err != nil {
		return nil, err
	}
	infos := []tool.PluginInfo{}
	for _, p := range resp.GetPlugins() {
		infos = append(infos, hostpb.ToPlugin(p))
	}
	return infos, nil
}

// Conditions returns what an operator should know about the toolhost itself, such as that its
// ledger is full. An older toolhost has none, and neither has a caller without the right
// plugins.read in all tenants.
func (a *Admin) Conditions(ctx context.Context) ([]tool.Condition, error) {
	resp, err := a.listPlugins(ctx, &toolhostv1.ListPluginsRequest{Conditions: true})
	return hostpb.ToConditions(resp), err
}

func (a *Admin) listPlugins(ctx context.Context, req *toolhostv1.ListPluginsRequest) (*toolhostv1.ListPluginsResponse, error) {
	return link.Invoke(ctx, a.link, func(conn grpc.ClientConnInterface) (*toolhostv1.ListPluginsResponse, error) {
		return toolhostv1.NewAdminServiceClient(conn).ListPlugins(ctx, req)
	})
}

// Instances returns the running processes of a plugin, ordered by start time. An empty plugin means
// all plugins. Errors: not_found.
func (a *Admin) Instances(ctx context.Context, plugin string) ([]tool.InstanceInfo, error) {
	resp, err := link.Invoke(ctx, a.link, func(conn grpc.ClientConnInterface) (*toolhostv1.ListInstancesResponse, error) {
		return toolhostv1.NewAdminServiceClient(conn).ListInstances(ctx, &toolhostv1.ListInstancesRequest{Plugin: plugin})
	})
	if err != nil {
		return nil, err
	}
	infos := []tool.InstanceInfo{}
	for _, i := range resp.GetInstances() {
		infos = append(infos, hostpb.ToInstance(i))
	}
	return infos, nil
}

// Restart replaces the processes of a plugin. New calls go to a new process; calls in flight finish
// in the old one. With force, the old process is stopped at once. Errors: not_found; unavailable if
// the new process does not start, in which case the old one continues.
func (a *Admin) Restart(ctx context.Context, plugin string, force bool) (tool.Restarted, error) {
	resp, err := link.Invoke(ctx, a.link, func(conn grpc.ClientConnInterface) (*toolhostv1.RestartResponse, error) {
		return toolhostv1.NewAdminServiceClient(conn).Restart(ctx, &toolhostv1.RestartRequest{Plugin: plugin, Force: force, Reason: a.reason})
	})
	if err != nil {
		return tool.Restarted{}, err
	}
	return hostpb.ToRestarted(resp), nil
}

// Drain lets the processes of a plugin finish their calls, stops them, and returns when they have
// ended. New calls start new processes, unless the plugin is paused. Errors: not_found.
func (a *Admin) Drain(ctx context.Context, plugin string) error {
	_, err := link.Invoke(ctx, a.link, func(conn grpc.ClientConnInterface) (*toolhostv1.DrainResponse, error) {
		return toolhostv1.NewAdminServiceClient(conn).Drain(ctx, &toolhostv1.DrainRequest{Plugin: plugin, Reason: a.reason})
	})
	return err
}

// Pause makes a plugin refuse calls until Resume. Waiting calls fail; calls in flight finish.
// Errors: not_found.
func (a *Admin) Pause(ctx context.Context, plugin string) error {
	_, err := link.Invoke(ctx, a.link, func(conn grpc.ClientConnInterface) (*toolhostv1.PauseResponse, error) {
		return toolhostv1.NewAdminServiceClient(conn).Pause(ctx, &toolhostv1.PauseRequest{Plugin: plugin, Reason: a.reason})
	})
	return err
}

// Resume ends a pause. Errors: not_found.
func (a *Admin) Resume(ctx context.Context, plugin string) error {
	_, err := link.Invoke(ctx, a.link, func(conn grpc.ClientConnInterface) (*toolhostv1.ResumeResponse, error) {
		return toolhostv1.NewAdminServiceClient(conn).Resume(ctx, &toolhostv1.ResumeRequest{Plugin: plugin})
	})
	return err
}

// ClearQuarantine ends a quarantine or a backoff, so that the next call starts a process. Errors:
// not_found.
func (a *Admin) ClearQuarantine(ctx context.Context, plugin string) error {
	_, err := link.Invoke(ctx, a.link, func(conn grpc.ClientConnInterface) (*toolhostv1.ClearQuarantineResponse, error) {
		return toolhostv1.NewAdminServiceClient(conn).ClearQuarantine(ctx, &toolhostv1.ClearQuarantineRequest{Plugin: plugin})
	})
	return err
}

// Reload makes the toolhost apply the changes of its configuration file, and then scan its plugin
// folders: it adds new plugins, removes plugins whose files are gone, and upgrades changed ones. It
// returns when each change has succeeded or failed. A failed change is part of the answer, not an
// error.
func (a *Admin) Reload(ctx context.Context) (tool.Reloaded, error) {
	return a.reload(ctx, &toolhostv1.ReloadRequest{})
}

// ReloadPlugins is Reload without the configuration file.
func (a *Admin) ReloadPlugins(ctx context.Context) (tool.Reloaded, error) {
	return a.reload(ctx, &toolhostv1.ReloadRequest{PluginsOnly: true})
}

func (a *Admin) reload(ctx context.Context, req *toolhostv1.ReloadRequest) (tool.Reloaded, error) {
	resp, err := link.Invoke(ctx, a.link, func(conn grpc.ClientConnInterface) (*toolhostv1.ReloadResponse, error) {
		return toolhostv1.NewAdminServiceClient(conn).Reload(ctx, req)
	})
	if err != nil {
		return tool.Reloaded{}, err
	}
	return hostpb.ToReloaded(resp), nil
}

// DiffConfiguration returns what Reload would change in the configuration of the toolhost.
func (a *Admin) DiffConfiguration(ctx context.Context) (tool.ConfigurationChange, error) {
	resp, err := link.Invoke(ctx, a.link, func(conn grpc.ClientConnInterface) (*toolhostv1.DiffConfigurationResponse, error) {
		return toolhostv1.NewAdminServiceClient(conn).DiffConfiguration(ctx, &toolhostv1.DiffConfigurationRequest{})
	})
	if err != nil {
		return tool.ConfigurationChange{}, err
	}
	return *hostpb.ToConfigurationChange(resp.GetConfiguration()), nil
}

// Upgrade switches a plugin to the executable that is in its folder now, also after a rollback. No
// call fails: the new process takes over when it is ready. Errors: not_found; unavailable if the
// new process does not start, in which case the old one continues.
func (a *Admin) Upgrade(ctx context.Context, plugin string) (tool.Upgraded, error) {
	resp, err := link.Invoke(ctx, a.link, func(conn grpc.ClientConnInterface) (*toolhostv1.UpgradeResponse, error) {
		return toolhostv1.NewAdminServiceClient(conn).Upgrade(ctx, &toolhostv1.UpgradeRequest{Plugin: plugin, Reason: a.reason})
	})
	if err != nil {
		return tool.Upgraded{}, err
	}
	return hostpb.ToUpgraded(resp), nil
}

// Rollback switches a plugin back to its previous executable, until its file changes again or
// Upgrade is called. Errors: not_found, also if there is no previous executable; unavailable if the
// new process does not start, in which case the old one continues.
func (a *Admin) Rollback(ctx context.Context, plugin string) (tool.Upgraded, error) {
	return a.RollbackTo(ctx, plugin, 0)
}

// RollbackTo is Rollback to the executable of a revision, by its number in Revisions. 0 is the
// previous executable. Errors: as of Rollback.
func (a *Admin) RollbackTo(ctx context.Context, plugin string, revision uint64) (tool.Upgraded, error) {
	resp, err := link.Invoke(ctx, a.link, func(conn grpc.ClientConnInterface) (*toolhostv1.RollbackResponse, error) {
		return toolhostv1.NewAdminServiceClient(conn).Rollback(ctx, &toolhostv1.RollbackRequest{Plugin: plugin, Revision: revision, Reason: a.reason})
	})
	if err != nil {
		return tool.Upgraded{}, err
	}
	return hostpb.ToRolledBack(resp), nil
}

// Revisions returns which executables of a plugin came into service, the newest first, at most 10.
// Errors: not_found.
func (a *Admin) Revisions(ctx context.Context, plugin string) ([]tool.Revision, error) {
	resp, err := link.Invoke(ctx, a.link, func(conn grpc.ClientConnInterface) (*toolhostv1.ListRevisionsResponse, error) {
		return toolhostv1.NewAdminServiceClient(conn).ListRevisions(ctx, &toolhostv1.ListRevisionsRequest{Plugin: plugin})
	})
	if err != nil {
		return nil, err
	}
	return hostpb.ToRevisions(resp), nil
}

// LockFile returns the path of the file that pins plugins to digests, and whether the toolhost
// enforces it. After a change to the file, call ReloadPlugins.
func (a *Admin) LockFile(ctx context.Context) (tool.LockFile, error) {
	resp, err := link.Invoke(ctx, a.link, func(conn grpc.ClientConnInterface) (*toolhostv1.GetLockFileResponse, error) {
		return toolhostv1.NewAdminServiceClient(conn).GetLockFile(ctx, &toolhostv1.GetLockFileRequest{})
	})
	if err != nil {
		return tool.LockFile{}, err
	}
	return hostpb.ToLockFile(resp), nil
}

// WatchEvents returns events of plugins and instances: first the stored events, oldest first, then,
// with q.Follow, new ones. Without q.Follow it ends after the stored events. With it, it ends
// without an error when the toolhost shuts down, and with an error as its last element if ctx ends
// or the connection is lost; to continue, call it again with the Seq of the last event. Leaving the
// loop ends the watch.
func (a *Admin) WatchEvents(ctx context.Context, q tool.EventQuery) iter.Seq2[tool.PluginEvent, error] {
	open := func(ctx context.Context, conn grpc.ClientConnInterface) (grpc.ServerStreamingClient[toolhostv1.WatchEventsResponse], error) {
		return toolhostv1.NewAdminServiceClient(conn).WatchEvents(ctx, hostpb.FromEventQuery(q))
	}
	return link.Receive(ctx, a.link, open, func(resp *toolhostv1.WatchEventsResponse) tool.PluginEvent {
		return hostpb.ToPluginEvent(resp.GetEvent())
	})
}

// TailLogs returns the output of plugins: first the stored lines, oldest first, then, with
// q.Follow, new ones. It ends like WatchEvents. Errors: not_found.
func (a *Admin) TailLogs(ctx context.Context, q tool.LogQuery) iter.Seq2[tool.LogLine, error] {
	open := func(ctx context.Context, conn grpc.ClientConnInterface) (grpc.ServerStreamingClient[toolhostv1.TailLogsResponse], error) {
		return toolhostv1.NewAdminServiceClient(conn).TailLogs(ctx, hostpb.FromLogQuery(q))
	}
	return link.Receive(ctx, a.link, open, func(resp *toolhostv1.TailLogsResponse) tool.LogLine {
		return hostpb.ToLogLine(resp.GetLine())
	})
}

// Audit returns lines of the audit log, the oldest first, then, with q.Follow, new ones. It ends
// like WatchEvents. A line is foreign text: escape it before you print it. Errors: denied;
// unavailable if the log cannot be read.
func (a *Admin) Audit(ctx context.Context, q tool.AuditQuery) iter.Seq2[tool.AuditLine, error] {
	open := func(ctx context.Context, conn grpc.ClientConnInterface) (grpc.ServerStreamingClient[toolhostv1.ReadAuditResponse], error) {
		return toolhostv1.NewAdminServiceClient(conn).ReadAudit(ctx, hostpb.FromAuditQuery(q))
	}
	lines := link.Receive(ctx, a.link, open, hostpb.ToAuditLine)
	if q.Approver == "" {
		return lines
	}
	return func(yield func(tool.AuditLine, error) bool) {
		for line, err := range lines {
			var of struct {
				Approver string `json:"approver"`
			}
			// An older toolhost returns the lines of all approvers.
			if err == nil && (json.Unmarshal(line.Line, &of) != nil || of.Approver != q.Approver) {
				continue
			}
			if !yield(line, err) {
				return
			}
		}
	}
}

// Stats returns the statistics of tools, ordered by name. It contains only tools that were called.
// Errors: not_found.
func (a *Admin) Stats(ctx context.Context, q tool.StatsQuery) ([]tool.Stats, error) {
	resp, err := link.Invoke(ctx, a.link, func(conn grpc.ClientConnInterface) (*toolhostv1.GetStatsResponse, error) {
		return toolhostv1.NewAdminServiceClient(conn).GetStats(ctx, hostpb.FromStatsQuery(q))
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

// Calls returns one page of the running calls and the recorded ended calls of all principals,
// newest first. Errors: invalid_argument.
func (a *Admin) Calls(ctx context.Context, q tool.CallQuery) (tool.CallPage, error) {
	resp, err := link.Invoke(ctx, a.link, func(conn grpc.ClientConnInterface) (*toolhostv1.ListCallsResponse, error) {
		return toolhostv1.NewAdminServiceClient(conn).ListCalls(ctx, hostpb.FromCallQuery(q))
	})
	if err != nil {
		return tool.CallPage{}, err
	}
	page := tool.CallPage{Calls: []tool.CallRecord{}, NextPageToken: resp.GetNextPageToken()}
	for _, r := range resp.GetCalls() {
		if r := hostpb.ToCallRecord(r); q.State == "" || r.State == q.State { // an older toolhost does not know each state
			page.Calls = append(page.Calls, r)
		}
	}
	return page, nil
}
