package agentserver

import (
	"cmp"
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
)

// service implements agentd.v1.AgentService.
type service struct {
	agentdv1.UnimplementedAgentServiceServer
	agent Agent
}

func (s *service) StartRun(ctx context.Context, req *agentdv1.StartRunRequest) (*agentdv1.StartRunResponse, error) {
	task := toTask(req)
	if values := metadata.ValueFromIncomingContext(ctx, "traceparent"); task.Traceparent == "" && len(values) > 0 {
		task.Traceparent = values[0]
	}
	id, err := s.agent.StartRun(ctx, task)
	if err != nil {
		return nil, err
	}
	return &agentdv1.StartRunResponse{RunId: id}, nil
}

func (s *service) SendMessage(ctx context.Context, req *agentdv1.SendMessageRequest) (*agentdv1.SendMessageResponse, error) {
	seq, err := s.agent.SendMessage(ctx, req.GetRunId(), req.GetText())
	if err != nil {
		return nil, err
	}
	return &agentdv1.SendMessageResponse{Seq: seq}, nil
}

func (s *service) Respond(ctx context.Context, req *agentdv1.RespondRequest) (*agentdv1.RespondResponse, error) {
	decisions, err := toDecisions(req)
	if err != nil {
		return nil, err
	}
	principal, overTCP := peerOf(ctx)
	for i := range decisions {
		if decisions[i].Principal = principal; overTCP {
			decisions[i].By = cmp.Or(decisions[i].By, "somebody") + " (unverified)"
		}
	}
	seq, err := s.agent.Respond(ctx, req.GetRunId(), decisions...)
	if err != nil {
		return nil, err
	}
	return &agentdv1.RespondResponse{Seq: seq}, nil
}

func (s *service) CancelRun(ctx context.Context, req *agentdv1.CancelRunRequest) (*agentdv1.CancelRunResponse, error) {
	if err := s.agent.CancelRun(ctx, req.GetRunId(), req.GetReason()); err != nil {
		return nil, err
	}
	return &agentdv1.CancelRunResponse{}, nil
}

func (s *service) WatchRun(req *agentdv1.WatchRunRequest, stream grpc.ServerStreamingServer[agentdv1.WatchRunResponse]) error {
	for event, err := range s.agent.WatchRun(stream.Context(), req.GetRunId(), req.GetAfterSeq()) {
		if err != nil {
			return err
		}
		// A client that does not read blocks only this goroutine. The run continues.
		if err := stream.Send(&agentdv1.WatchRunResponse{Event: fromEvent(event)}); err != nil {
			return err
		}
	}
	return nil
}

func (s *service) GetRun(ctx context.Context, req *agentdv1.GetRunRequest) (*agentdv1.GetRunResponse, error) {
	run, err := s.agent.GetRun(ctx, req.GetRunId())
	if err != nil {
		return nil, err
	}
	return &agentdv1.GetRunResponse{Run: fromRun(run)}, nil
}

func (s *service) ListRuns(ctx context.Context, req *agentdv1.ListRunsRequest) (*agentdv1.ListRunsResponse, error) {
	query, err := toQuery(req)
	if err != nil {
		return nil, err
	}
	runs, next, err := s.agent.ListRuns(ctx, query)
	if err != nil {
		return nil, err
	}
	resp := &agentdv1.ListRunsResponse{NextPageToken: next}
	for _, run := range runs {
		resp.Runs = append(resp.Runs, fromRun(run))
	}
	return resp, nil
}
