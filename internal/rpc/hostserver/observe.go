package hostserver

import (
	"context"
	"errors"

	"google.golang.org/grpc"

	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/rpc/hostpb"
)

// WatchEvents implements toolhost.v1.AdminService.
func (s *adminService) WatchEvents(req *toolhostv1.WatchEventsRequest, stream grpc.ServerStreamingServer[toolhostv1.WatchEventsResponse]) error {
	ctx, cancel := s.untilDrain(stream.Context())
	defer cancel()
	for event, err := range s.host.WatchEvents(ctx, hostpb.ToEventQuery(req)) {
		if err != nil {
			return ended(ctx, err)
		}
		if err := stream.Send(&toolhostv1.WatchEventsResponse{Event: hostpb.FromPluginEvent(event)}); err != nil {
			return err
		}
	}
	return nil
}

// TailLogs implements toolhost.v1.AdminService.
func (s *adminService) TailLogs(req *toolhostv1.TailLogsRequest, stream grpc.ServerStreamingServer[toolhostv1.TailLogsResponse]) error {
	ctx, cancel := s.untilDrain(stream.Context())
	defer cancel()
	for line, err := range s.host.TailLogs(ctx, hostpb.ToLogQuery(req)) {
		if err != nil {
			return ended(ctx, err)
		}
		if err := stream.Send(&toolhostv1.TailLogsResponse{Line: hostpb.FromLogLine(line)}); err != nil {
			return err
		}
	}
	return nil
}

// GetStats implements toolhost.v1.AdminService.
func (s *adminService) GetStats(ctx context.Context, req *toolhostv1.GetStatsRequest) (*toolhostv1.GetStatsResponse, error) {
	stats, err := s.host.Stats(ctx, req.GetPlugin())
	if err != nil {
		return nil, err
	}
	resp := &toolhostv1.GetStatsResponse{}
	for _, t := range stats {
		resp.Tools = append(resp.Tools, hostpb.FromStats(t))
	}
	return resp, nil
}

// errDraining is the cause of a stream that ends because the server shuts down.
var errDraining = errors.New("the server shuts down")

// untilDrain returns a context for a stream that may follow for ever, and that must not hold up the shutdown: it ends
// with the caller, or when the shutdown begins. The function returned ends it, and what watches for the shutdown.
func (s *adminService) untilDrain(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	watched := make(chan struct{})
	go func() { // ends with ctx; the function returned waits for it
		defer close(watched)
		select {
		case <-s.drain:
			cancel(errDraining)
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		cancel(nil)
		<-watched
	}
}

// ended returns what to answer when a stream ended with err: nothing if that is because the server shuts down.
func ended(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errDraining) {
		return nil
	}
	return err
}
