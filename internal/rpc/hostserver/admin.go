package hostserver

import (
	"context"

	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/rpc/hostpb"
)

// adminService implements toolhost.v1.AdminService. Errors become statuses in guard.
type adminService struct {
	toolhostv1.UnimplementedAdminServiceServer
	host  Admin
	drain <-chan struct{} // closed when the server shuts down
}

// ListPlugins implements toolhost.v1.AdminService.
func (s *adminService) ListPlugins(ctx context.Context, _ *toolhostv1.ListPluginsRequest) (*toolhostv1.ListPluginsResponse, error) {
	plugins, err := s.host.Plugins(ctx)
	if err != nil {
		return nil, err
	}
	return hostpb.FromPlugins(plugins), nil
}

// ListInstances implements toolhost.v1.AdminService.
func (s *adminService) ListInstances(ctx context.Context, req *toolhostv1.ListInstancesRequest) (*toolhostv1.ListInstancesResponse, error) {
	instances, err := s.host.Instances(ctx, req.GetPlugin())
	if err != nil {
		return nil, err
	}
	resp := &toolhostv1.ListInstancesResponse{}
	for _, i := range instances {
		resp.Instances = append(resp.Instances, hostpb.FromInstance(i))
	}
	return resp, nil
}

// Restart implements toolhost.v1.AdminService.
func (s *adminService) Restart(ctx context.Context, req *toolhostv1.RestartRequest) (*toolhostv1.RestartResponse, error) {
	restarted, err := s.host.Restart(ctx, req.GetPlugin(), req.GetForce())
	if err != nil {
		return nil, err
	}
	return hostpb.FromRestarted(restarted), nil
}

// Drain implements toolhost.v1.AdminService.
func (s *adminService) Drain(ctx context.Context, req *toolhostv1.DrainRequest) (*toolhostv1.DrainResponse, error) {
	return &toolhostv1.DrainResponse{}, s.host.Drain(ctx, req.GetPlugin())
}

// Pause implements toolhost.v1.AdminService.
func (s *adminService) Pause(ctx context.Context, req *toolhostv1.PauseRequest) (*toolhostv1.PauseResponse, error) {
	return &toolhostv1.PauseResponse{}, s.host.Pause(ctx, req.GetPlugin())
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
func (s *adminService) Reload(ctx context.Context, _ *toolhostv1.ReloadRequest) (*toolhostv1.ReloadResponse, error) {
	reloaded, err := s.host.Reload(ctx)
	if err != nil {
		return nil, err
	}
	return hostpb.FromReloaded(reloaded), nil
}

// Upgrade implements toolhost.v1.AdminService.
func (s *adminService) Upgrade(ctx context.Context, req *toolhostv1.UpgradeRequest) (*toolhostv1.UpgradeResponse, error) {
	upgraded, err := s.host.Upgrade(ctx, req.GetPlugin())
	if err != nil {
		return nil, err
	}
	return hostpb.FromUpgraded(upgraded), nil
}

// Rollback implements toolhost.v1.AdminService.
func (s *adminService) Rollback(ctx context.Context, req *toolhostv1.RollbackRequest) (*toolhostv1.RollbackResponse, error) {
	upgraded, err := s.host.Rollback(ctx, req.GetPlugin())
	if err != nil {
		return nil, err
	}
	return hostpb.FromRolledBack(upgraded), nil
}

// GetLockFile implements toolhost.v1.AdminService.
func (s *adminService) GetLockFile(ctx context.Context, _ *toolhostv1.GetLockFileRequest) (*toolhostv1.GetLockFileResponse, error) {
	lock, err := s.host.LockFile(ctx)
	if err != nil {
		return nil, err
	}
	return hostpb.FromLockFile(lock), nil
}
