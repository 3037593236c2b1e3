package hostserver

import (
	"context"

	"google.golang.org/grpc"

	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/wire/hostpb"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/tool"
)

// AuditLog is the audit log that ReadAudit shows.
type AuditLog interface {
	// Read calls found for each line that matches, the oldest first, and with q.Follow for each new
	// one until ctx ends, which is no error. An error of found ends it and is returned.
	Read(ctx context.Context, q tool.AuditQuery, found func(tool.AuditLine) error) error
}

// ReadAudit implements toolhost.v1.AdminService.
func (s *adminService) ReadAudit(req *toolhostv1.ReadAuditRequest, stream grpc.ServerStreamingServer[toolhostv1.ReadAuditResponse]) error {
	if s.audit == nil {
		return tool.Errorf(tool.KindUnavailable, "this toolhost has no audit log")
	}
	ctx, cancel := untilDrain(stream.Context(), s.drain)
	defer cancel()
	query := hostpb.ToAuditQuery(req)
	requested := query.Tenants
	query.Tenants = s.tenants(ctx, authz.AuditRead, requested)
	may := following(ctx, authz.AuditRead, query.Tenants, requested)
	var refused error
	err := s.audit.Read(ctx, query, func(line tool.AuditLine) error {
		if refused = may(); refused != nil {
			return refused
		}
		return stream.Send(hostpb.FromAuditLine(line))
	})
	switch {
	case refused != nil:
		return refused
	case err != nil:
		return ended(ctx, tool.Errorf(tool.KindUnavailable, "%w", err))
	}
	return nil
}
