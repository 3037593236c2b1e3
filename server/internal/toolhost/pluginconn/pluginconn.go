// Package pluginconn defines the host's view of a connection to a plugin instance: the interfaces
// that each kind of connection implements, and the messages that they accept. It imports no
// contract, so that the host does not depend on how it reaches an instance. Package pluginclient
// implements the interfaces for plugins of the gRPC contract.
package pluginconn

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/toolhost/toolhost/internal/wire/trace"
	"github.com/toolhost/toolhost/tool"
)

// Conn is the connection to one instance. All methods are safe for concurrent use.
type Conn interface {
	// Describe requests the description of the plugin.
	Describe(ctx context.Context, req DescribeRequest) (tool.Description, error)
	// Start starts a call. ctx limits only the wait for room on the connection. An error means that
	// the plugin does not execute the call: it is the cause of ctx, wraps ErrLost, is ErrNoRoom, or
	// says why the call cannot be sent.
	Start(ctx context.Context, start Start) (Call, error)
	// Done returns a channel that is closed when the connection is lost or closed.
	Done() <-chan struct{}
}

// Call is one call of a Conn. Append and Complete must not be called concurrently, and neither must
// Next; all other methods are safe for concurrent use.
type Call interface {
	// Append sends argument text of a call that was started with incomplete arguments. It blocks
	// until the connection has room or ctx ends. It does nothing if the call has ended.
	Append(ctx context.Context, text []byte) error
	// Complete says that the arguments are complete, so that the plugin executes the call.
	// arguments, if not empty, replace the text that was sent, and must not change during the call.
	// Complete blocks like Append. An error means that the plugin does not execute the call, which
	// is still open.
	Complete(ctx context.Context, arguments []byte) error
	// Next returns the next event of the call and blocks until there is one. The last event is the
	// outcome, without plugin and instance. The ID of a question is a number that the plugin chose,
	// and of the other fields only Person or Model is set. If the connection is lost before, Next
	// returns an error that wraps ErrLost or ErrNotTaken; if ctx ends, its cause.
	Next(ctx context.Context) (tool.Event, error)
	// Answer sends the answer to a question. number is the ID of the Question that Next returned. It
	// blocks until the connection has room or ctx ends. It does nothing if the call has ended.
	Answer(ctx context.Context, number uint32, answer tool.Answer) error
	// Cancel requests the cancellation of the call and does not block. The call still ends with the
	// outcome that the plugin sends.
	Cancel(reason string)
	// Close removes the call, and cancels it if it has not ended. It does not block and may be
	// called more than once.
	Close()
}

// Start is the start of a call.
type Start struct {
	// CallID is the id of the call, which is also its idempotency key. For an MCP server, which the
	// operator of toolhost need not know, it is the key of ledger.Entry instead of the caller's id.
	CallID string
	Tool   string
	// Arguments is JSON text: the whole arguments if Complete is set, otherwise their beginning. It
	// must not change during the call.
	Arguments json.RawMessage
	Complete  bool
	Timeout   time.Duration // the time that the call has left; 0: no limit; negative: none
	Attempt   uint32        // from 1; 0 means 1
	Session   string
	Workspace string // an absolute path; empty: none
	Values    map[string]json.RawMessage
	Secrets   map[string]string
	// Traceparent is the W3C trace context. Empty means none.
	Traceparent string
	// SpanBytes is how many bytes of spans the plugin may return for the call. 0 means none.
	SpanBytes int
	// Answers is what the call may ask: what the operator permits and the caller answers. The
	// connection refuses any other question, or returns it from Next, and the host refuses it. nil:
	// nothing.
	Answers []tool.QuestionKind
	// Settle asks what became of the earlier call with this id and these arguments, which must be
	// complete, instead of executing it. The outcome is then an error, or has Settled with the result
	// of that call if the tool knows it.
	Settle bool
	// EffectKey names this execution of the call, or the one that Settle asks about; see
	// ledger.Entry. Empty: none.
	EffectKey string
	// Spans receives the spans that the plugin has returned, within the bounds of package trace.
	// dropped is the number of further spans that were dropped. Next calls Spans, so it must not
	// block. nil means that spans are ignored.
	Spans func(spans []trace.Span, dropped int)
	// Artifacts returns at most limit bytes of an artifact from an offset, if the call may read it.
	// It must return when ctx ends. nil means that the call has no artifacts.
	Artifacts func(ctx context.Context, handle string, offset uint64, limit int) (tool.ArtifactPiece, error)
	// Hold reserves memory for size more bytes of the result, and may block. It fails with the
	// cause of ctx, or with an error, preferably a *tool.Error, that ends the call. nil means that
	// no memory is reserved.
	Hold func(ctx context.Context, size int) error
}

// DescribeRequest requests the description of a plugin. The zero value requests all tools, without
// a session.
type DescribeRequest struct {
	Tools   []string // only these tools; empty: all
	Session string   // the session for which dynamic tools are described; empty: none
	Context map[string]json.RawMessage
}

var (
	// ErrLost says that the connection to the instance was lost or closed. Only the process of the
	// instance knows whether the plugin crashed.
	ErrLost = errors.New("the connection to the plugin is lost")
	// ErrNotTaken is the error of Next for a call that the instance did not take, because its session
	// has ended. The instance ends, and another one can execute the call.
	ErrNotTaken = errors.New("the plugin did not take the call")
	// ErrNoRoom says that the connection takes no call now.
	ErrNoRoom = errors.New("the connection has no room")
)
