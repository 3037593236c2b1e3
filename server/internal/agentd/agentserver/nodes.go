package agentserver

import (
	"context"
	"errors"
	"io"
	"iter"
	"log/slog"
	"sync"

	"google.golang.org/grpc"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/internal/wire/credential"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/server/internal/access/passing"
	"github.com/toolhost/toolhost/server/internal/access/rpcright"
	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/tool"
)

const (
	// maxPassed is the most watches that one agentd passes on, and that one accepts from another
	// one.
	maxPassed = 1024
	// maxPassedOf bounds those of one principal.
	maxPassedOf = 64
)

// PassedRights returns the rights of the RPCs that agentds of one database pass on to each other.
func PassedRights() rpcright.Table {
	const watch = agentdv1.AgentService_WatchRun_FullMethodName
	return rpcright.Table{watch: Rights()[watch]}
}

// NodeOptions returns further options of the server for other agentds.
func NodeOptions() []grpc.ServerOption {
	return []grpc.ServerOption{grpc.MaxConcurrentStreams(maxPassed)}
}

// AtWork returns the agent as the server for other agentds has it: a watch ends if its run is not
// at work here, so that no agentd follows a run at one that follows it elsewhere.
func AtWork(a *agent.Agent) Agent { return atWork{a} }

type atWork struct{ *agent.Agent }

func (a atWork) WatchRun(ctx context.Context, runID string, after uint64) iter.Seq2[loop.Event, error] {
	return a.WatchHere(ctx, runID, after)
}

// Nodes are the other agentds of a database. Use NewNodes to make them, and Close to end. All
// methods are safe for concurrent use.
type Nodes struct {
	links  *passing.Links
	logger *slog.Logger

	mu       sync.Mutex
	watches  int
	watching map[string]int // by the key of the principal
}

// NewNodes returns Nodes without a connection. tls has the files of this agentd and of the agentds'
// CA.
func NewNodes(tls credential.TLS, logger *slog.Logger) *Nodes {
	return &Nodes{links: passing.NewLinks(passing.Config{Program: "agentd", TLS: tls, MaxReceived: maxRequestBytes}), logger: logger, watching: map[string]int{}}
}

// Close closes all connections. Watches end.
func (n *Nodes) Close() { n.links.Close() }

// Follow is an agent.Follow for the caller of ctx. Of durable events, it yields only the position.
func (n *Nodes) Follow(ctx context.Context, owner runstore.Owner, runID string, after uint64) iter.Seq2[loop.Event, error] {
	return func(yield func(loop.Event, error) bool) {
		if err := n.follow(ctx, owner, runID, after, func(e loop.Event) bool { return yield(e, nil) }); err != nil {
			yield(loop.Event{}, err)
		}
	}
}

func (n *Nodes) follow(ctx context.Context, owner runstore.Owner, runID string, after uint64, see func(loop.Event) bool) error {
	caller, ok := identity.FromContext(ctx)
	if !ok {
		return errors.New("there is no caller to pass the watch on for")
	}
	if !n.begin(caller.Key()) {
		return tool.Errorf(tool.KindRateLimited, "too many watches are passed on to other agentds")
	}
	defer n.end(caller.Key())
	conn, done, err := n.links.Connect(owner.Address)
	if err != nil {
		return err
	}
	defer done()
	ctx, cancel := context.WithCancel(ctx) // ends the stream when see leaves
	defer cancel()
	passed, err := passing.For(ctx, caller, owner.Node)
	if err != nil {
		return err
	}
	n.logger.InfoContext(ctx, "a watch is passed on to another agentd", "run", runID, "principal", caller.Key(), "node", owner.Node, "address", owner.Address)
	stream, err := agentdv1.NewAgentServiceClient(conn).WatchRun(passed, &agentdv1.WatchRunRequest{RunId: named(ctx, runID), AfterSeq: after})
	for err == nil {
		var resp *agentdv1.WatchRunResponse
		if resp, err = stream.Recv(); err != nil {
			break
		}
		if e, ok := toPassing(resp.GetEvent()); ok && !see(e) {
			return nil
		}
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	if ctx.Err() == nil {
		n.logger.WarnContext(ctx, "another agentd does not show a run", "run", runID, "node", owner.Node, "address", owner.Address, "error", err)
	}
	return toolpb.FromStatusError(err)
}

func (n *Nodes) begin(principal string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.watches >= maxPassed || n.watching[principal] >= maxPassedOf {
		return false
	}
	n.watches++
	n.watching[principal]++
	return true
}

func (n *Nodes) end(principal string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.watches--
	if n.watching[principal]--; n.watching[principal] == 0 {
		delete(n.watching, principal)
	}
}

// toPassing returns a passing event, or the position of a durable one. It returns false for an
// event that this version does not know.
func toPassing(m *agentdv1.RunEvent) (loop.Event, bool) {
	e := loop.Event{Seq: m.GetSeq(), Index: m.GetIndex(), Time: toolpb.ToTime(m.GetTime())}
	if e.Durable() {
		return e, true
	}
	switch p := m.GetEvent().(type) {
	case *agentdv1.RunEvent_TextDelta:
		e.Payload = &loop.TextDelta{Text: p.TextDelta.GetText()}
	case *agentdv1.RunEvent_ReasoningDelta:
		e.Payload = &loop.ReasoningDelta{Text: p.ReasoningDelta.GetText()}
	case *agentdv1.RunEvent_ArgumentDelta:
		e.Payload = &loop.ArgumentDelta{CallID: p.ArgumentDelta.GetCallId(), Tool: p.ArgumentDelta.GetTool(), Text: p.ArgumentDelta.GetText()}
	case *agentdv1.RunEvent_AnswerDelta:
		e.Payload = &loop.AnswerDelta{Answer: p.AnswerDelta.GetAnswer()}
	case *agentdv1.RunEvent_CallStatus:
		e.Payload = &loop.CallStatus{CallID: p.CallStatus.GetCallId(), Tool: p.CallStatus.GetTool(), Status: toolpb.ToStatus(p.CallStatus.GetStatus())}
	case *agentdv1.RunEvent_TurnReset:
		e.Payload = &loop.TurnReset{Reason: p.TurnReset.GetReason(), Attempt: int(p.TurnReset.GetAttempt()), Model: p.TurnReset.GetModel()}
	default:
		return e, false
	}
	return e, true
}
