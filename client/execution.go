package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"google.golang.org/grpc"

	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/wire/flow"
	"github.com/toolhost/toolhost/internal/wire/hostpb"
	"github.com/toolhost/toolhost/internal/wire/link"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/tool"
)

// NewCall returns a call of a tool whose arguments are the JSON encoding of a Go value: usually a
// map or a struct. nil means no arguments. The caller may set the other fields of the call. Errors:
// invalid_argument if the value cannot be encoded.
func NewCall(toolName string, arguments any) (tool.Call, error) {
	call := tool.Call{Tool: toolName}
	if arguments == nil {
		return call, nil
	}
	text, err := json.Marshal(arguments)
	if err != nil {
		return tool.Call{}, tool.Errorf(tool.KindInvalidArgument, "encoding the arguments of %q: %w", toolName, err)
	}
	call.Arguments = text
	return call, nil
}

// Open starts a call. If complete is set, call.Arguments are the whole arguments, otherwise their
// beginning, and Execution.Send sends the rest. ctx limits only the start of the call. The server
// ignores the principal of the call and uses that of the connection.
//
// All calls of a client to a toolhost share one stream, and none blocks another: if the caller does
// not read the events of a call, the toolhost stops sending them. An error means that the call
// could not be sent. The Ended event contains all failures that the toolhost reports, such as an
// unknown tool.
//
// If the connection is lost, an open call ends with KindUnavailable if it cannot have been
// executed, and otherwise with KindOutcomeUnknown; to learn the outcome, repeat the call with the
// same id. The next Open connects again.
//
// A client of several toolhosts first opens such a call at the next one, if it cannot have been
// executed or has an id, and all its arguments were there. Events may then come again.
//
// The caller must close the execution.
func (c *Client) Open(ctx context.Context, call tool.Call, complete bool) (tool.Execution, error) {
	nodes, err := c.fleet.Order(ctx, call.Session)
	if err != nil {
		return nil, err
	}
	for {
		e, err := c.start(ctx, nodes[0], call, complete)
		nodes = nodes[1:]
		switch {
		case err == nil && (c.fleet.Single() || !complete):
			return e, nil
		case err == nil:
			return &roaming{client: c, opened: ctx, call: call, nodes: nodes, current: e}, nil
		case len(nodes) == 0 || tool.KindOf(err) != tool.KindUnavailable:
			return nil, err
		}
	}
}

// start opens a call at one toolhost.
func (c *Client) start(ctx context.Context, to *link.Link, call tool.Call, complete bool) (*execution, error) {
	for {
		s, err := c.shared(ctx, to)
		var e *execution
		if err == nil {
			e, err = s.open(ctx, call, complete)
		}
		if !errors.Is(err, errRetired) {
			return e, err
		}
	}
}

// Call executes a call and returns its outcome. An error is an infrastructure failure, always a
// *tool.Error. A failure that the tool reports is not an error but a result with IsError. If ctx
// ends, Call cancels the call, even if it has an id, and waits for at most one second for its
// outcome.
func (c *Client) Call(ctx context.Context, call tool.Call) (tool.Outcome, error) {
	call.OutcomeOnly = true
	return c.Follow(ctx, call, func(tool.Event) {})
}

// ReviewCall decides about a call as Call does, and executes nothing. It returns the result with
// which the call would end unexecuted, such as one for arguments that do not fit, or nil if the
// tool would be executed now. Errors: approval_required, with the final arguments and their digest;
// otherwise those of Call. toolhost decides again when the call is made.
func (c *Client) ReviewCall(ctx context.Context, call tool.Call) (*tool.Result, error) {
	req := &toolhostv1.ReviewCallRequest{Tool: hostpb.FromName(call.Tool), Arguments: call.Arguments, Options: hostpb.FromCall(call)}
	req.Options.OnBehalfOf = onBehalfOf(ctx)
	resp, err := link.Invoke(ctx, c.fleet.To(call.Session), func(conn grpc.ClientConnInterface) (*toolhostv1.ReviewCallResponse, error) {
		return toolhostv1.NewToolServiceClient(conn).ReviewCall(ctx, req)
	})
	if err != nil || resp.GetResult() == nil {
		return nil, err
	}
	result := toolpb.ToResult(resp.GetResult())
	return &result, nil
}

// Follow is Call, but also calls show for each event except the last. It calls show in its own
// goroutine, one event at a time.
func (c *Client) Follow(ctx context.Context, call tool.Call, show func(tool.Event)) (tool.Outcome, error) {
	out, again, err := c.follow(ctx, call, show)
	if again {
		out, _, err = c.follow(ctx, call, show)
	}
	return out, err
}

// follow makes one attempt. again reports whether the server refused the call unexecuted because it
// no longer accepts the token of the stream, and the client has another token.
func (c *Client) follow(ctx context.Context, call tool.Call, show func(tool.Event)) (out tool.Outcome, again bool, err error) {
	opened, err := c.Open(ctx, call, true)
	if err != nil {
		out, err = failed(call.ID, err)
		return out, false, err
	}
	defer opened.Close()
	for first := true; ; first = false {
		event, err := opened.Next(ctx)
		switch {
		case err != nil:
			out, err = cancelled(ctx, err, call.ID, opened)
			return out, false, err
		case event.Ended != nil:
			e, ok := opened.(*execution)
			again = first && ok && e.refused(event.Ended) && e.session.renew(ctx)
			out, err = outcomeOf(event.Ended)
			return out, again, err
		}
		show(event)
	}
}

// refused reports whether the server took the call neither to a plugin nor into its ledger,
// although the stream works. It answers so when the token of the stream has expired.
func (e *execution) refused(o *tool.Outcome) bool {
	return o.Err != nil && o.Err.Kind == tool.KindUnavailable && o.Err.Plugin == "" && !errors.Is(o.Err, ErrNoServer)
}

// cancelGrace is how long Call waits for the outcome of a call that it canceled. Most tools stop at
// once, and the outcome then says what was done.
const cancelGrace = time.Second

// cancelled ends a call whose caller stopped waiting because of err.
func cancelled(ctx context.Context, err error, callID string, execution tool.Execution) (tool.Outcome, error) {
	execution.Cancel("the caller stopped waiting: " + err.Error())
	if ctx.Err() != nil {
		err = ctx.Err() // the kind depends on the context's error, not on its cause
	}
	grace, stop := context.WithTimeout(context.WithoutCancel(ctx), cancelGrace)
	defer stop()
	for {
		event, nextErr := execution.Next(grace)
		if nextErr != nil {
			return failed(callID, err)
		}
		if event.Ended == nil {
			continue
		}
		if e := event.Ended.Err; e != nil && e.Kind == tool.KindCancelled {
			e.Kind = tool.AsError(err).Kind // the caller's deadline canceled the call
		}
		return outcomeOf(event.Ended)
	}
}

func outcomeOf(o *tool.Outcome) (tool.Outcome, error) {
	if o.Err != nil {
		return *o, o.Err
	}
	return *o, nil
}

func failed(callID string, err error) (tool.Outcome, error) {
	failure := *tool.AsError(err)
	if failure.CallID == "" {
		failure.CallID = callID
	}
	return tool.Outcome{CallID: failure.CallID, Err: &failure}, &failure
}

// execution is a call on a session. It implements tool.Execution.
type execution struct {
	session *session
	number  uint32
	named   bool // the caller chose the id, so the call continues without a reader
	inbox   flow.Inbox[item]
	joiner  hostpb.Joiner // used by Next only

	mutex    sync.Mutex
	callID   string
	complete bool // the host may have received all arguments, so it may have executed the call
	ended    bool // the call neither receives nor sends frames
	closed   bool // no reader: received events are dropped
}

// item is an element of an inbox: an event, or the outcome that the client created because the
// stream was lost.
type item struct {
	message *toolhostv1.CallEvent
	outcome *tool.Outcome
}

func newExecution(s *session, callID string) *execution {
	e := &execution{session: s, named: callID != "", callID: callID}
	e.inbox.Init(hostpb.Window, e.grant)
	return e
}

// frame queues a small frame without blocking.
func (e *execution) frame(r *toolhostv1.ConnectRequest) {
	r.Call = e.number
	_ = e.session.stream.PutNow(r) // if it fails, the session has failed and ends the call
}

func (e *execution) grant(bytes int) {
	e.frame(&toolhostv1.ConnectRequest{Frame: &toolhostv1.ConnectRequest_Credit{
		Credit: &toolhostv1.GrantCredit{Bytes: uint32(bytes)},
	}})
}

// markComplete records that the call may be executed. The caller calls it before it sends the last
// argument frame.
func (e *execution) markComplete(complete bool) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.complete = complete
}

// receive handles an event from the stream. It does not block.
func (e *execution) receive(m *toolhostv1.CallEvent) {
	if m.GetEnded() != nil {
		e.finish(item{message: m})
		return
	}
	if started := m.GetStarted(); started != nil {
		e.mutex.Lock()
		e.callID = started.GetCallId()
		e.mutex.Unlock()
	}
	size := m.SizeWire()
	err := e.inbox.Put(item{message: m}, size)
	switch {
	case errors.Is(err, flow.ErrOverrun):
		failure := tool.Errorf(tool.KindInternal, "toolhost broke the contract: %w", err)
		e.cancel(failure.Message)
		e.finish(item{outcome: e.outcome(failure)})
	case err != nil && size > 0:
		e.grant(size) // no goroutine reads the events, but the call must be able to finish
	}
}

// finish puts the last item into the inbox.
func (e *execution) finish(last item) {
	e.mutex.Lock()
	e.ended = true
	e.mutex.Unlock()
	e.inbox.Finish(io.EOF, last)
}

// lose ends the call because its session failed. lost says whether the host may have executed the
// frames that were sent.
func (e *execution) lose(cause *tool.Error, lost bool) {
	e.mutex.Lock()
	executed := lost && e.complete
	e.mutex.Unlock()
	failure := *cause
	switch {
	case executed:
		failure.Kind = tool.KindOutcomeUnknown
		failure.Message = fmt.Sprintf("the connection was lost while the call ran, and it may have been executed; %s (%s)", e.advice(), cause.Message)
	case lost:
		failure.Message = fmt.Sprintf("the connection was lost before the arguments were complete; the call was not executed (%s)", cause.Message)
	}
	e.finish(item{outcome: e.outcome(&failure)})
}

// advice says how to learn the outcome of a lost call.
func (e *execution) advice() string {
	if e.named {
		return "the same call, sent again with the same call id, tells its outcome and is not executed twice"
	}
	return "it had no call id by which its outcome could be had; give calls that change something an id"
}

func (e *execution) outcome(failure *tool.Error) *tool.Outcome {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	failure.CallID = e.callID
	return &tool.Outcome{CallID: e.callID, Err: failure}
}

// Send implements tool.Execution.
func (e *execution) Send(ctx context.Context, text []byte, complete bool) error {
	for len(text) > 0 {
		n := min(len(text), hostpb.ChunkBytes)
		if err := e.put(ctx, &toolhostv1.ConnectRequest{Frame: &toolhostv1.ConnectRequest_Append{
			Append: &toolhostv1.AppendArguments{Text: text[:n:n]},
		}}); err != nil {
			return err
		}
		text = text[n:]
	}
	if !complete {
		return nil
	}
	e.markComplete(true)
	err := e.put(ctx, &toolhostv1.ConnectRequest{Frame: &toolhostv1.ConnectRequest_Complete{
		Complete: &toolhostv1.CompleteArguments{},
	}})
	if err != nil {
		e.markComplete(false)
	}
	return err
}

// put queues a frame, unless the call has ended.
func (e *execution) put(ctx context.Context, r *toolhostv1.ConnectRequest) error {
	e.mutex.Lock()
	over := e.ended || e.closed
	e.mutex.Unlock()
	if over {
		return nil
	}
	r.Call = e.number
	return e.session.put(ctx, r)
}

// Next implements tool.Execution.
func (e *execution) Next(ctx context.Context) (tool.Event, error) {
	for {
		next, err := e.inbox.Next(ctx)
		if err != nil {
			return tool.Event{}, err
		}
		if next.outcome != nil {
			return tool.Event{Ended: next.outcome}, nil
		}
		if event, ok := e.joiner.Add(next.message); ok {
			return event, nil
		}
	}
}

// Cancel implements tool.Execution.
func (e *execution) Cancel(reason string) {
	e.mutex.Lock()
	over := e.ended
	e.mutex.Unlock()
	if !over {
		e.cancel(reason)
	}
}

func (e *execution) cancel(reason string) {
	e.frame(&toolhostv1.ConnectRequest{Frame: &toolhostv1.ConnectRequest_Cancel{Cancel: &toolhostv1.CancelCall{Reason: hostpb.FromReason(reason)}}})
}

// Close implements tool.Execution.
func (e *execution) Close() {
	e.mutex.Lock()
	first := !e.closed
	e.closed = true
	over, goesOn := e.ended, e.named && e.complete
	e.mutex.Unlock()
	if !first {
		return
	}
	e.inbox.Abort(io.EOF)
	if over {
		return
	}
	if !goesOn {
		e.cancel("its caller is not interested any more")
	}
	e.grant(hostpb.Window) // for the events that were dropped; from now on receive grants credit
}
