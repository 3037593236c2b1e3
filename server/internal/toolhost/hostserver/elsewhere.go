package hostserver

import (
	"context"
	"errors"
	"io"
	"time"

	"google.golang.org/grpc"

	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/server/internal/access/rpcright"
	"github.com/toolhost/toolhost/tool"
)

// Peers pass requests on to the other toolhosts of a ledger, for the caller of ctx. *peers.Peers
// implements it. passed is false if the request is not for another one that can be reached.
type Peers interface {
	// Call passes a request on that concerns a call.
	Call(ctx context.Context, key tool.CallKey, send func(context.Context, toolhostv1.ToolServiceClient) error) (passed bool, err error)
	// Watch is Call for a request that lasts as long as its call. reachable is false if the other
	// toolhost could not be reached, or not any more.
	Watch(ctx context.Context, key tool.CallKey, send func(context.Context, toolhostv1.ToolServiceClient) error) (passed, reachable bool, err error)
	// Artifact passes a request on that concerns an artifact.
	Artifact(ctx context.Context, handle string, send func(context.Context, toolhostv1.ToolServiceClient) error) (passed bool, err error)
}

// passTime bounds a request that is passed on to another toolhost, except for one that follows a
// call.
const passTime = 10 * time.Second

// PassedRights returns the rights of the RPCs that toolhosts pass on.
func PassedRights() rpcright.Table {
	all, passed := Rights(), rpcright.Table{}
	for _, method := range []string{
		toolhostv1.ToolService_CancelCall_FullMethodName, toolhostv1.ToolService_AnswerQuestion_FullMethodName,
		toolhostv1.ToolService_WatchCall_FullMethodName, toolhostv1.ToolService_ReadArtifact_FullMethodName,
	} {
		passed[method] = all[method]
	}
	return passed
}

// orAtPeer returns the error of this toolhost about a call, or what the toolhost says that executes
// the call.
func (s *toolService) orAtPeer(ctx context.Context, key tool.CallKey, err error, send func(context.Context, toolhostv1.ToolServiceClient) error) error {
	if err == nil || s.peers == nil || tool.KindOf(err) == tool.KindInvalidArgument {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, passTime)
	defer cancel()
	if passed, failed := s.peers.Call(ctx, key, send); passed {
		return failed
	}
	return err
}

// artifactAtPeer reads an artifact that is not here, if another toolhost keeps it. Otherwise it
// returns err.
func (s *toolService) artifactAtPeer(ctx context.Context, req *toolhostv1.ReadArtifactRequest, err error) (resp *toolhostv1.ReadArtifactResponse, _ error) {
	if s.peers == nil || tool.KindOf(err) != tool.KindNotFound {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, passTime)
	defer cancel()
	passed, failed := s.peers.Artifact(ctx, req.GetHandle(), func(ctx context.Context, c toolhostv1.ToolServiceClient) (err error) {
		resp, err = c.ReadArtifact(ctx, req)
		return err
	})
	if passed {
		return resp, failed
	}
	return nil, err
}

// watchAtPeer sends the events of a call that another toolhost executes. done is false if the other
// toolhost cannot be reached, or not any more: the ledger still has the outcome. The number of the
// last event that was sent is then in req.
func (s *toolService) watchAtPeer(req *toolhostv1.WatchCallRequest, key tool.CallKey, stream grpc.ServerStreamingServer[toolhostv1.WatchCallResponse]) (done bool, err error) {
	if s.peers == nil {
		return false, nil
	}
	ctx, stop := untilDrain(stream.Context(), s.drain)
	defer stop()
	parts := false // of the outcome were sent
	passed, reachable, err := s.peers.Watch(ctx, key, func(ctx context.Context, c toolhostv1.ToolServiceClient) error {
		events, err := c.WatchCall(ctx, req)
		if err != nil {
			return err
		}
		for {
			m, err := events.Recv()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			if err := stream.Send(m); err != nil {
				return tool.AsError(err) // not an error of the other toolhost
			}
			if parts = parts || m.GetEvent().GetChunk() != nil || m.GetEvent().GetEnded() != nil; !parts {
				req.AfterSeq = m.GetEvent().GetSeq()
			}
		}
	})
	switch {
	case !passed, !reachable && !parts && ctx.Err() == nil:
		return false, nil
	case err != nil:
		return true, ended(ctx, err)
	}
	return true, nil
}
