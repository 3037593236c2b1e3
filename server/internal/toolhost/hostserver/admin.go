package hostserver

import (
	"context"
	"errors"

	"google.golang.org/grpc"

	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/wire/hostpb"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/tool"
)

// adminService implements toolhost.v1.AdminService. The guard converts errors to statuses.
type adminService struct {
	toolhostv1.UnimplementedAdminServiceServer
	host       Admin
	gate       *gate.Gate
	audit      AuditLog                // nil: there is none
	conditions func() []tool.Condition // see Config; nil: there are none
	drain      <-chan struct{}         // closed when the server shuts down
}

// ListPlugins implements toolhost.v1.AdminService.
func (s *adminService) ListPlugins(ctx context.Context, req *toolhostv1.ListPluginsRequest) (*toolhostv1.ListPluginsResponse, error) {
	plugins, err := s.host.Plugins(ctx)
	if err != nil {
		return nil, err
	}
	tenants := tenantsOf(ctx, authz.PluginsRead, nil)
	resp := hostpb.FromPlugins(shownPlugins(plugins, tenants))
	if all := tenants == nil; all && req.GetConditions() && s.conditions != nil {
		resp.Conditions = hostpb.FromConditions(s.conditions())
	}
	return resp, nil
}

// ListInstances implements toolhost.v1.AdminService.
func (s *adminService) ListInstances(ctx context.Context, req *toolhostv1.ListInstancesRequest) (*toolhostv1.ListInstancesResponse, error) {
	instances, err := s.host.Instances(ctx, req.GetPlugin())
	if err != nil {
		return nil, err
	}
	resp, tenants := &toolhostv1.ListInstancesResponse{}, tenantsOf(ctx, authz.PluginsRead, nil)
	for _, i := range instances {
		if tenants.Contain(tenantOf(i.Tenant)) {
			resp.Instances = append(resp.Instances, hostpb.FromInstance(i))
		}
	}
	return resp, nil
}

// Restart implements toolhost.v1.AdminService.
func (s *adminService) Restart(ctx context.Context, req *toolhostv1.RestartRequest) (*toolhostv1.RestartResponse, error) {
	if err := tool.CheckReason(req.GetReason()); err != nil {
		return nil, err
	}
	restarted, err := s.host.Restart(ctx, req.GetPlugin(), req.GetReason(), req.GetForce())
	if err != nil {
		return nil, err
	}
	return hostpb.FromRestarted(restarted), nil
}

// Drain implements toolhost.v1.AdminService.
func (s *adminService) Drain(ctx context.Context, req *toolhostv1.DrainRequest) (*toolhostv1.DrainResponse, error) {
	if err := tool.CheckReason(req.GetReason()); err != nil {
		return nil, err
	}
	return &toolhostv1.DrainResponse{}, s.host.Drain(ctx, req.GetPlugin(), req.GetReason())
}

// Pause implements toolhost.v1.AdminService.
func (s *adminService) Pause(ctx context.Context, req *toolhostv1.PauseRequest) (*toolhostv1.PauseResponse, error) {
	if err := tool.CheckReason(req.GetReason()); err != nil {
		return nil, err
	}
	return &toolhostv1.PauseResponse{}, s.host.Pause(ctx, req.GetPlugin(), req.GetReason())
}

// Resume implements toolhost.v1.AdminService.
func (s *adminService) Resume(ctx context.Context, req *toolhostv1.ResumeRequest) (*toolhostv1.ResumeResponse, error) {
	return &toolhostv1.ResumeResponse{}, s.host.Resume(ctx, req.GetPlugin())
}

// ClearQuarantine implements toolhost.v1.AdminService.
func (s *adminService) ClearQuarantine(ctx context.Context, req *toolhostv1.ClearQuarantineRequest) (*toolhostv1.ClearQuarantineResponse, error) {
	return &toolhostv1.ClearQuarantineResponse{}, s.host.ClearQuarantine(ctx, req.GetPlugin())
}

// Reload implements toolhost.v1.AdminService.
func (s *adminService) Reload(ctx context.Context, req *toolhostv1.ReloadRequest) (*toolhostv1.ReloadResponse, error) {
	reload := s.host.Reload
	if req.GetPluginsOnly() {
		reload = s.host.ReloadPlugins
	}
	reloaded, err := reload(ctx)
	if err != nil {
		return nil, err
	}
	return hostpb.FromReloaded(reloaded), nil
}

// DiffConfiguration implements toolhost.v1.AdminService.
func (s *adminService) DiffConfiguration(ctx context.Context, _ *toolhostv1.DiffConfigurationRequest) (*toolhostv1.DiffConfigurationResponse, error) {
	change, err := s.host.DiffConfiguration(ctx)
	if err != nil {
		return nil, err
	}
	return &toolhostv1.DiffConfigurationResponse{Configuration: hostpb.FromConfigurationChange(&change)}, nil
}

// Upgrade implements toolhost.v1.AdminService.
func (s *adminService) Upgrade(ctx context.Context, req *toolhostv1.UpgradeRequest) (*toolhostv1.UpgradeResponse, error) {
	if err := tool.CheckReason(req.GetReason()); err != nil {
		return nil, err
	}
	upgraded, err := s.host.Upgrade(ctx, req.GetPlugin(), req.GetReason())
	if err != nil {
		return nil, err
	}
	return hostpb.FromUpgraded(upgraded), nil
}

// Rollback implements toolhost.v1.AdminService.
func (s *adminService) Rollback(ctx context.Context, req *toolhostv1.RollbackRequest) (*toolhostv1.RollbackResponse, error) {
	if err := tool.CheckReason(req.GetReason()); err != nil {
		return nil, err
	}
	upgraded, err := s.host.Rollback(ctx, req.GetPlugin(), req.GetRevision(), req.GetReason())
	if err != nil {
		return nil, err
	}
	return hostpb.FromRolledBack(upgraded), nil
}

// ListRevisions implements toolhost.v1.AdminService.
func (s *adminService) ListRevisions(ctx context.Context, req *toolhostv1.ListRevisionsRequest) (*toolhostv1.ListRevisionsResponse, error) {
	revisions, err := s.host.Revisions(ctx, req.GetPlugin())
	if err != nil {
		return nil, err
	}
	return hostpb.FromRevisions(revisions), nil
}

// GetLockFile implements toolhost.v1.AdminService.
func (s *adminService) GetLockFile(ctx context.Context, _ *toolhostv1.GetLockFileRequest) (*toolhostv1.GetLockFileResponse, error) {
	lock, err := s.host.LockFile(ctx)
	if err != nil {
		return nil, err
	}
	return hostpb.FromLockFile(lock), nil
}

// WatchEvents implements toolhost.v1.AdminService.
func (s *adminService) WatchEvents(req *toolhostv1.WatchEventsRequest, stream grpc.ServerStreamingServer[toolhostv1.WatchEventsResponse]) error {
	ctx, cancel := untilDrain(stream.Context(), s.drain)
	defer cancel()
	query := hostpb.ToEventQuery(req)
	requested := query.Tenants
	query.Tenants = s.tenants(ctx, authz.EventsRead, requested)
	may := following(ctx, authz.EventsRead, query.Tenants, requested)
	for event, err := range s.host.WatchEvents(ctx, query) {
		if err != nil {
			return ended(ctx, err)
		}
		if err := may(); err != nil {
			return err
		}
		if err := stream.Send(&toolhostv1.WatchEventsResponse{Event: hostpb.FromPluginEvent(event)}); err != nil {
			return err
		}
	}
	return nil
}

// TailLogs implements toolhost.v1.AdminService.
func (s *adminService) TailLogs(req *toolhostv1.TailLogsRequest, stream grpc.ServerStreamingServer[toolhostv1.TailLogsResponse]) error {
	ctx, cancel := untilDrain(stream.Context(), s.drain)
	defer cancel()
	query := hostpb.ToLogQuery(req)
	requested := query.Tenants
	query.Tenants = s.tenants(ctx, authz.LogsRead, requested)
	may := following(ctx, authz.LogsRead, query.Tenants, requested)
	for line, err := range s.host.TailLogs(ctx, query) {
		if err != nil {
			return ended(ctx, err)
		}
		if err := may(); err != nil {
			return err
		}
		if err := stream.Send(&toolhostv1.TailLogsResponse{Line: hostpb.FromLogLine(line)}); err != nil {
			return err
		}
	}
	return nil
}

// GetStats implements toolhost.v1.AdminService.
func (s *adminService) GetStats(ctx context.Context, req *toolhostv1.GetStatsRequest) (*toolhostv1.GetStatsResponse, error) {
	query := hostpb.ToStatsQuery(req)
	query.Tenants = s.tenants(ctx, authz.StatsRead, query.Tenants)
	stats, err := s.host.Stats(ctx, query)
	if err != nil {
		return nil, err
	}
	resp := &toolhostv1.GetStatsResponse{}
	for _, t := range stats {
		resp.Tools = append(resp.Tools, hostpb.FromStats(t))
	}
	return resp, nil
}

// errDraining is the cause of a context that ends because the server shuts down.
var errDraining = errors.New("the server shuts down")

// untilDrain returns a context for a stream that may follow events without end. It ends with the
// caller, and when the shutdown begins, so that the stream does not delay the shutdown. The caller
// must call stop, which ends the context and waits for its goroutine.
func untilDrain(ctx context.Context, drain <-chan struct{}) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	watched := make(chan struct{})
	go func() { // ends with ctx; stop waits for it
		defer close(watched)
		select {
		case <-drain:
			cancel(errDraining)
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		cancel(nil)
		<-watched
	}
}

// ended returns the status of a stream that ended with err: nil if the server shuts down.
func ended(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errDraining) {
		return nil
	}
	return err
}
