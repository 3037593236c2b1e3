package hostrpc

import (
	"context"

	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/hostpb"
)

// adminService implements toolhost.v1.AdminService. Errors become statuses in guard.
type adminService struct {
	toolhostv1.UnimplementedAdminServiceServer
	host Admin
}

// ListPlugins implements toolhost.v1.AdminService.
func (s *adminService) ListPlugins(ctx context.Context, _ *toolhostv1.ListPluginsRequest) (*toolhostv1.ListPluginsResponse, error) {
	plugins, err := s.host.Plugins(ctx)
	if err != nil {
		return nil, err
	}
	resp := &toolhostv1.ListPluginsResponse{}
	for _, p := range plugins {
		resp.Plugins = append(resp.Plugins, hostpb.FromPlugin(p))
	}
	return resp, nil
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
