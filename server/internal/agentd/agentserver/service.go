package agentserver

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/internal/version"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
)

// service implements agentd.v1.AgentService.
type service struct {
	agentdv1.UnimplementedAgentServiceServer
	agent         Agent
	configuration Configuration // nil: none
	foreground    bool          // see Config
	gate          *gate.Gate
	unread        *unread
	incoming      *tally // see intake
	shared        sharedEncoding
	pages         *Pages // nil: none
}

func (s *service) GetVersion(context.Context, *agentdv1.GetVersionRequest) (*agentdv1.GetVersionResponse, error) {
	return &agentdv1.GetVersionResponse{Version: toolpb.FromVersion(version.Info())}, nil
}

func (s *service) WhoAmI(ctx context.Context, _ *agentdv1.WhoAmIRequest) (*agentdv1.WhoAmIResponse, error) {
	return &agentdv1.WhoAmIResponse{Caller: toolpb.FromCaller(gate.WhoAmI(ctx, Rights()))}, nil
}

func (s *service) StartRun(ctx context.Context, req *agentdv1.StartRunRequest) (*agentdv1.StartRunResponse, error) {
	task := toTask(req)
	if values := metadata.ValueFromIncomingContext(ctx, "traceparent"); task.Traceparent == "" && len(values) > 0 {
		task.Traceparent = values[0]
	}
	if err := s.mayDrive(ctx); err != nil {
		return nil, err
	}
	caller, _ := identity.FromContext(ctx)
	task.Principal, task.Groups = caller.Key(), caller.Groups
	task.Foreground = s.foreground
	task.Confined = !may(ctx, authz.RunsCustomize, caller.Tenant)
	free, err := s.intake(caller.Key(), req.GetAttachments())
	if err != nil {
		return nil, err
	}
	defer free()
	id, err := s.agent.StartRun(ctx, task)
	if err != nil {
		return nil, s.refuse(ctx, "", err)
	}
	return &agentdv1.StartRunResponse{RunId: id}, nil
}

func (s *service) SendMessage(ctx context.Context, req *agentdv1.SendMessageRequest) (*agentdv1.SendMessageResponse, error) {
	if err := s.mayDrive(ctx); err != nil {
		return nil, err
	}
	at, err := s.reach(ctx, req.GetRunId())
	if err != nil {
		return nil, err
	}
	caller, _ := identity.FromContext(ctx)
	free, err := s.intake(caller.Key(), req.GetAttachments())
	if err != nil {
		return nil, err
	}
	defer free()
	files := toNewAttachments(req.GetAttachments())
	var seq uint64
	if id := req.GetMessageId(); id == "" {
		seq, err = s.agent.SendMessage(ctx, at.runID, req.GetText(), files...)
	} else {
		seq, err = s.agent.SendMessageOnce(ctx, at.runID, loop.MessageID{Text: id, Sender: caller.Key()}, req.GetText(), files...)
	}
	if err != nil {
		return nil, s.refuse(ctx, at.runID, err)
	}
	return &agentdv1.SendMessageResponse{Seq: seq}, nil
}

func (s *service) Respond(ctx context.Context, req *agentdv1.RespondRequest) (*agentdv1.RespondResponse, error) {
	if err := s.mayDrive(ctx); err != nil {
		return nil, err
	}
	decisions, err := toDecisions(req)
	if err != nil {
		return nil, err
	}
	at, err := s.reach(ctx, req.GetRunId(), authz.RunsApprove)
	if err != nil {
		return nil, err
	}
	qualify(agent.TenantOf(at.runID), decisions)
	if err := s.mayDecide(ctx, at, decisions); err != nil {
		return nil, err
	}
	caller, _ := identity.FromContext(ctx)
	for i := range decisions {
		decisions[i].Principal, decisions[i].Groups = caller.Key(), s.groupsOf(caller)
	}
	seq, err := s.agent.Respond(ctx, at.runID, decisions...)
	if err != nil {
		return nil, err
	}
	return &agentdv1.RespondResponse{Seq: seq}, nil
}

func (s *service) CancelRun(ctx context.Context, req *agentdv1.CancelRunRequest) (*agentdv1.CancelRunResponse, error) {
	at, err := s.reach(ctx, req.GetRunId(), authz.RunsApprove)
	if err != nil {
		return nil, err
	}
	if err := s.agent.CancelRun(ctx, at.runID, s.namedReason(ctx, req.GetReason())); err != nil {
		return nil, err
	}
	return &agentdv1.CancelRunResponse{}, nil
}

// namedReason returns the reason of a cancel with the principal that cancels, so that the journal,
// the result of the run and the log name it. A run of this process needs no name.
func (s *service) namedReason(ctx context.Context, reason string) string {
	caller, ok := identity.FromContext(ctx)
	switch {
	case !ok || s.foreground:
		return reason
	case reason == "":
		return "by " + caller.Key()
	}
	return reason + " (by " + caller.Key() + ")"
}

func (s *service) DeleteRun(ctx context.Context, req *agentdv1.DeleteRunRequest) (*agentdv1.DeleteRunResponse, error) {
	at, err := s.reach(ctx, req.GetRunId(), authz.RunsDelete)
	if err != nil {
		return nil, err
	}
	ids, err := s.agent.DeleteRun(ctx, at.runID)
	if err != nil {
		return nil, err
	}
	return &agentdv1.DeleteRunResponse{RunIds: ids}, nil
}

func (s *service) WatchRun(req *agentdv1.WatchRunRequest, stream grpc.ServerStreamingServer[agentdv1.WatchRunResponse]) error {
	at, err := s.reach(stream.Context(), req.GetRunId(), authz.RunsList)
	if err != nil {
		return err
	}
	caller, _ := identity.FromContext(stream.Context())
	out := &outgoing{of: s.unread, principal: caller.Key()}
	defer out.end()
	valid := gate.Recheck(stream.Context())
	for event, err := range s.agent.WatchRun(stream.Context(), at.runID, req.GetAfterSeq()) {
		if err != nil {
			return err
		}
		if err := s.mayFollow(stream.Context(), at, valid); err != nil {
			return err
		}
		// A client that does not read blocks only this goroutine. The run continues.
		m, err := s.shared.of(event)
		if err != nil {
			return err
		}
		if err := out.send(len(m), func() error { return stream.SendMsg(m) }); err != nil {
			return err
		}
	}
	return nil
}

func (s *service) GetRun(ctx context.Context, req *agentdv1.GetRunRequest) (*agentdv1.GetRunResponse, error) {
	at, err := s.reach(ctx, req.GetRunId(), authz.RunsList, authz.RunsApprove)
	if err != nil {
		return nil, err
	}
	run, err := s.agent.GetRun(ctx, at.runID)
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
	if !s.scope(ctx, &query) {
		return &agentdv1.ListRunsResponse{}, nil
	}
	runs, next, err := s.agent.ListRuns(ctx, query)
	if err != nil {
		return nil, err
	}
	if next != "" {
		next = named(ctx, next)
	}
	resp := &agentdv1.ListRunsResponse{NextPageToken: next}
	for _, run := range runs {
		run.ID = named(ctx, run.ID)
		resp.Runs = append(resp.Runs, fromRun(run))
	}
	return resp, nil
}
