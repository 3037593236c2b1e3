package systemd

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
)

// pipeBytes is the size of a connection in memory. A health check has fewer bytes.
const pipeBytes = 4 << 10

// Watch tells systemd twice in each WatchdogSec of the unit that the server answers. systemd
// restarts a server of which it hears nothing. Without WatchdogSec, Watch does nothing. stop ends
// it and waits.
//
// A timer would also run in a server whose RPCs hang. Watch therefore calls the server's health
// check through gRPC, on one connection in memory that it opens at the start. So the call needs no
// place among the connections of a listener, and no file: a server that is full is not one that
// hangs. serve serves the connection, as (*grpc.Server).Serve does. status returns what `systemctl
// status` shows from then on; nil: what it showed before. It must not wait.
func (s Service) Watch(serve func(net.Listener) error, status func() string) (stop func()) {
	most, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		s.Log.Warn("systemd's watchdog is not used", "error", err)
	}
	if most == 0 {
		return func() {}
	}
	l := bufconn.Listen(pipeBytes)
	conn, err := grpc.NewClient("passthrough:///self", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return l.DialContext(ctx) }))
	if err != nil {
		s.Log.Error("systemd's watchdog is not told that the server answers", "error", err)
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	var watching sync.WaitGroup
	watching.Go(func() { _ = serve(l) })                                                 // ends when stop closes the listener, or the server stops
	watching.Go(func() { s.watch(ctx, healthv1.NewHealthClient(conn), most/2, status) }) // ends with ctx
	return func() {
		cancel()
		_ = conn.Close()
		_ = l.Close()
		watching.Wait()
	}
}

func (s Service) watch(ctx context.Context, health healthv1.HealthClient, every time.Duration, status func() string) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		switch err := answers(ctx, health, every); {
		case err == nil && status != nil:
			s.send(daemon.SdNotifyWatchdog, "STATUS="+oneLine(status()))
		case err == nil:
			s.send(daemon.SdNotifyWatchdog)
		case ctx.Err() == nil:
			s.Log.Error("the server does not answer its own health check; if this goes on, systemd restarts it", "error", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// answers returns an error if the server does not answer in time. Each answer counts: a restart
// does not help a server that says that it is not healthy, such as one whose database is gone, or
// that its memory is in use.
func answers(ctx context.Context, health healthv1.HealthClient, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	_, err := health.Check(ctx, &healthv1.HealthCheckRequest{})
	switch status.Code(err) {
	case codes.DeadlineExceeded, codes.Unavailable, codes.Canceled:
		return err
	}
	return nil
}
