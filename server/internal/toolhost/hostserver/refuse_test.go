package hostserver_test

import (
	"errors"
	"os"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/server/internal/toolhost/hostserver"
	"github.com/toolhost/toolhost/tool"
)

// A refused process receives the reason for every RPC, and the host is not called.
func TestRefusedProcessGetsNothingButTheReason(t *testing.T) {
	var asked atomic.Int64
	a, _ := serve(t, socket(t), hostserver.Config{Host: newHost(t), Refuse: func(pid int) error {
		asked.Store(int64(pid))
		return errors.New("you are one of us")
	}})
	c := dial(t, a)
	check := func(what string, err error) {
		t.Helper()
		if e := tool.AsError(err); err == nil || e.Kind != tool.KindDenied || e.Message != "you are one of us" {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err := c.Plugins(t.Context())
	check("a unary call", err)
	for _, err := range c.WatchEvents(t.Context(), tool.EventQuery{}) {
		check("a stream", err)
	}
	health := healthv1.NewHealthClient(raw(t, a))
	if _, err := health.Check(t.Context(), &healthv1.HealthCheckRequest{}); status.Code(err) != codes.PermissionDenied {
		t.Errorf("health: %v", err)
	}
	stream, err := health.Watch(t.Context(), &healthv1.HealthCheckRequest{})
	if err == nil {
		_, err = stream.Recv()
	}
	if status.Code(err) != codes.PermissionDenied {
		t.Errorf("watching health: %v", err)
	}
	if _, known := pidOf(t, a); known && asked.Load() != int64(os.Getpid()) {
		t.Errorf("it was asked about process %d, and %d called", asked.Load(), os.Getpid())
	}
}

// pidOf returns the process that listens, if the operating system reports it.
func pidOf(t *testing.T, a address.Address) (pid int, known bool) {
	t.Helper()
	conn, err := a.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return address.PeerPID(conn)
}

func TestProcessThatIsNotRefusedIsServed(t *testing.T) {
	a, _ := serve(t, socket(t), hostserver.Config{Host: newHost(t), Refuse: func(int) error { return nil }})
	if _, err := dial(t, a).Plugins(t.Context()); err != nil {
		t.Error(err)
	}
}
