package client

import (
	"context"
	"net"
	"slices"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/test/bufconn"

	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/tool"
)

// olderLog is a toolhost that does not know the filter by approver, and returns all lines.
type olderLog struct {
	toolhostv1.UnimplementedAdminServiceServer
}

func (olderLog) ReadAudit(_ *toolhostv1.ReadAuditRequest, stream grpc.ServerStreamingServer[toolhostv1.ReadAuditResponse]) error {
	for i, line := range []string{`{"approver":"ada"}`, `{"approver":"bob"}`, `{}`, `cut off`, `{"approver":"ada","principal":"bob"}`} {
		if err := stream.Send(&toolhostv1.ReadAuditResponse{Seq: uint64(i + 1), Line: line}); err != nil {
			return err
		}
	}
	return nil
}

// A filter that an older toolhost does not know still selects.
func TestTheApproverOfAnOlderAuditLog(t *testing.T) {
	listener := bufconn.Listen(1 << 10)
	server := grpc.NewServer()
	toolhostv1.RegisterAdminServiceServer(server, olderLog{})
	go func() { _ = server.Serve(listener) }()
	defer server.Stop()
	c, err := Dial("unix:///older.sock", WithDialer(func(ctx context.Context) (net.Conn, error) { return listener.DialContext(ctx) }))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for approver, want := range map[string][]uint64{"ada": {1, 5}, "bob": {2}, "eve": nil, "": {1, 2, 3, 4, 5}} {
		var found []uint64
		for line, err := range c.Admin().Audit(t.Context(), tool.AuditQuery{Approver: approver}) {
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, line.Seq)
		}
		if !slices.Equal(found, want) {
			t.Errorf("approved by %q: the lines %d, want %d", approver, found, want)
		}
	}
}
