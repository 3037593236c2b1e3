package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/server/internal/toolhost/pluginconn"
	"github.com/toolhost/toolhost/tool"
)

// call is one call of a tool of the server. If it cannot ask anything, it is direct (see the type
// direct). Otherwise its goroutine, run, waits for the answer of the server, and ends with it, with
// the cancellation of the call, or with the session.
type call struct {
	conn    *Conn
	name    string // the server's name of the tool
	effects bool   // the tool has side effects, as far as the connection knows
	key     string // its idempotency key; empty: none
	trace   string // its W3C trace context; empty: none
	token   string
	answers []tool.QuestionKind // what the call may ask
	first   *mcp.CallToolResult // the answer to the direct request, if the server asks in it; run takes it
	fate    fate
	hold    func(ctx context.Context, size int) error // nil: no memory is reserved, or there is enough
	ctx     context.Context
	cancel  context.CancelCauseFunc
	wake    chan struct{} // of capacity 1: there is something to read

	mu        sync.Mutex
	arguments []byte
	begun     bool        // run or runDirect was started
	stop      func() bool // ends what cancels a direct call with ctx; nil: nothing does
	events    []tool.Event
	ended     bool // the last of events is the outcome, or it was read
	lost      error
	asked     asked
}

// errClosed ends a call that its reader has closed.
var errClosed = errors.New("the call was closed")

func newCall(conn *Conn, found offered, start pluginconn.Start) *call {
	c := &call{
		conn: conn, name: found.name, effects: found.effects, token: "call-" + strconv.FormatUint(conn.tokens.Add(1), 10), hold: start.Hold, key: start.CallID,
		answers: start.Answers, arguments: start.Arguments, wake: make(chan struct{}, 1),
	}
	if conn.cfg.Trace {
		c.trace = start.Traceparent
	}
	c.ctx, c.cancel = context.WithCancelCause(withFate(context.Background(), &c.fate))
	if start.Complete {
		c.begin()
	}
	return c
}

// begin sends the call to the server.
func (c *call) begin() {
	c.mu.Lock()
	if c.begun || c.ended {
		c.mu.Unlock()
		return
	}
	c.begun = true
	c.mu.Unlock()
	if c.conn.direct != nil && len(c.answers) == 0 && !c.conn.oneByOne() {
		c.conn.calls.add(c.token, c)
		go c.runDirect() // ends when the request is written
		return
	}
	go c.run() // ends with the answer, the cancellation, or the session
}

// run calls the tool and ends the call.
func (c *call) run() {
	res, err := c.callTool()
	err = c.fate.of(err)
	refused, own := errors.AsType[*tool.Error](err)
	switch {
	case err == nil:
		c.answered(res)
	case own:
		c.end(tool.Result{}, refused)
	case c.ctx.Err() != nil:
		c.yield()
	default:
		c.fail(err)
	}
}

// fail ends the call with an error of the SDK or of the transport below it.
func (c *call) fail(err error) {
	begun, isBegun := errors.AsType[*begunError](err)
	if refusal, ok := errors.AsType[*jsonrpc.Error](err); ok && refusal.Code == codeBegun {
		begun, isBegun = &begunError{clip(refusal.Message, maxMessage)}, true
	}
	switch {
	case isBegun:
		c.end(tool.Result{}, begun.outcome(c.effects))
	case errors.Is(err, errNotTaken):
		c.lose(fmt.Errorf("%w: %w", pluginconn.ErrNotTaken, err))
	case c.conn.isLost(err):
		c.lose(err)
	default:
		c.end(tool.Result{}, c.conn.failure(err))
	}
}

// answered ends the call with the server's result.
func (c *call) answered(res *mcp.CallToolResult) {
	result, size, err := resultOf(res)
	c.finish(result, size, err)
}

// finish ends the call with a result of size bytes, or with an error.
func (c *call) finish(result tool.Result, size int, err *tool.Error) {
	if err == nil && size > c.conn.cfg.MaxResultBytes {
		err = tooLarge(c.conn.cfg.MaxResultBytes)
	}
	if err == nil && c.hold != nil && size > smallResult {
		if held := c.hold(c.ctx, size); held != nil {
			err = tool.AsError(held)
		}
	}
	if err != nil {
		result = tool.Result{}
	}
	c.end(result, err)
}

// smallResult is the size of a result for which no memory is reserved.
const smallResult = 8 << 10

// yield ends a canceled call once the server answers another request. MCP has no confirmation of a
// cancellation. A server that answers nothing any more is stuck, and the call stays open, so that
// the host replaces the instance.
func (c *call) yield() {
	if err := c.conn.probe(context.WithoutCancel(c.ctx)); err != nil && c.conn.isLost(err) {
		c.lose(err)
		return
	}
	c.end(tool.Result{}, canceled(c.ctx))
}

// canceled returns the outcome of a call whose context has ended.
func canceled(ctx context.Context) *tool.Error {
	return tool.Errorf(tool.KindCancelled, "the call was canceled: %w", context.Cause(ctx))
}

// isLost reports whether an error of the SDK is the end of the session.
func (c *Conn) isLost(err error) bool {
	if errors.Is(err, ErrEnded) || errors.Is(err, mcp.ErrConnectionClosed) || errors.Is(err, io.EOF) || errors.Is(err, mcp.ErrSessionMissing) {
		return true
	}
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// failure returns an error of the server as the outcome of a call.
func (c *Conn) failure(err error) *tool.Error {
	refusal, ok := errors.AsType[*jsonrpc.Error](err)
	switch {
	case !ok:
		c.logf("an answer that breaks the protocol: %s", oneLine(err.Error())) // in the words of the SDK
		return tool.Errorf(tool.KindInternal, "the MCP server broke the protocol: its answer does not have the form of a result; the log has the details")
	case refusal.Code == codeTooLarge:
		return tooLarge(c.cfg.MaxResultBytes)
	case refusal.Code == codeNoMemory:
		return &tool.Error{Kind: tool.KindUnavailable, Message: clip(refusal.Message, maxMessage)}
	case refusal.Code == mcp.CodeMissingRequiredClientCapabilities: // an MCP server in front may pass the cause on
		return tool.Errorf(tool.KindUnsupported, "the MCP server needs a caller that can be asked more: %s%w", clip(refusal.Message, maxMessage), hidden{refusal})
	case refusal.Code == mcp.CodeURLElicitationRequired:
		return tool.Errorf(tool.KindUnsupported, "the MCP server wants a person to open a link, which toolhost does not support: %s", clip(refusal.Message, maxMessage))
	case refusal.Code == jsonrpc.CodeInvalidParams:
		return tool.Errorf(tool.KindInvalidArgument, "the MCP server refused the arguments: %s", clip(refusal.Message, maxMessage))
	case refusal.Code == jsonrpc.CodeMethodNotFound:
		return tool.Errorf(tool.KindUnavailable, "the MCP server does not take calls: %s", clip(refusal.Message, maxMessage))
	default:
		return tool.Errorf(tool.KindInternal, "the MCP server failed (code %d): %s", refusal.Code, clip(refusal.Message, maxMessage))
	}
}

// hidden is a cause that adds nothing to the message of an error.
type hidden struct{ error }

func (hidden) Error() string   { return "" }
func (h hidden) Unwrap() error { return h.error }

func tooLarge(limit int) *tool.Error {
	return tool.Errorf(tool.KindInternal, "the tool's result is larger than the %d bytes that are allowed", limit)
}

// Append implements pluginconn.Call. MCP has no incomplete arguments, so the text is kept.
func (c *call) Append(_ context.Context, text []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.begun && !c.ended {
		c.arguments = append(c.arguments[:len(c.arguments):len(c.arguments)], text...)
	}
	return nil
}

// Complete implements pluginconn.Call.
func (c *call) Complete(_ context.Context, arguments []byte) error {
	if len(arguments) > 0 {
		c.mu.Lock()
		c.arguments = arguments
		c.mu.Unlock()
	}
	c.begin()
	return nil
}

// Next implements pluginconn.Call.
func (c *call) Next(ctx context.Context) (tool.Event, error) {
	for {
		c.mu.Lock()
		switch {
		case len(c.events) > 0:
			ev := c.events[0]
			c.events = c.events[1:]
			c.mu.Unlock()
			return ev, nil
		case c.lost != nil:
			err := c.lost
			c.mu.Unlock()
			return tool.Event{}, err
		case c.ended:
			c.mu.Unlock()
			return tool.Event{}, io.EOF
		}
		c.mu.Unlock()
		select {
		case <-c.wake:
		case <-ctx.Done():
			return tool.Event{}, context.Cause(ctx)
		}
	}
}

// Cancel implements pluginconn.Call.
func (c *call) Cancel(reason string) {
	c.mu.Lock()
	begun := c.begun
	c.mu.Unlock()
	if !begun {
		c.end(tool.Result{}, tool.Errorf(tool.KindCancelled, "the call was canceled: %s", reason))
	}
	c.cancel(errors.New(reason))
}

// Close implements pluginconn.Call.
func (c *call) Close() {
	c.cancel(errClosed)
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.begun {
		c.ended = true
	}
}

// maxUnread is how many events of a call wait for their reader.
const maxUnread = 64

// push adds an event. If too many wait, the last progress is replaced, so that a server cannot fill
// memory.
func (c *call) push(ev tool.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended || c.lost != nil {
		return
	}
	if last := len(c.events) - 1; last >= maxUnread-1 && ev.Status != nil && c.events[last].Status != nil {
		c.events[last] = ev
	} else {
		c.events = append(c.events, ev)
	}
	c.ended = ev.Ended != nil
	c.rouse()
}

// end ends the call with an outcome.
func (c *call) end(result tool.Result, err *tool.Error) {
	c.push(tool.Event{Ended: &tool.Outcome{Result: result, Err: err}})
}

// lose ends the call with the loss of the session. If err wraps pluginconn.ErrNotTaken, the server
// did not get the call.
func (c *call) lose(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended || c.lost != nil {
		return
	}
	if c.lost = err; !errors.Is(err, pluginconn.ErrNotTaken) {
		c.lost = fmt.Errorf("%w: %w", pluginconn.ErrLost, err)
	}
	c.rouse()
}

// rouse wakes the reader. It does not block.
func (c *call) rouse() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}
