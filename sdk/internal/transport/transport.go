// Package transport defines the interface between the tools of a plugin and the source of their
// calls: gRPC in a plugin process, sdktest in a test.
//
// It owns the interface and its adapter to gRPC. Package sdk runs the tools.
package transport

import (
	"context"
	"encoding/json"

	"github.com/toolhost/toolhost/internal/wire/trace"
	"github.com/toolhost/toolhost/sdk/internal/fit"
	"github.com/toolhost/toolhost/tool"
)

// DescribeRequest requests the declaration of a plugin's tools. The zero value requests all of
// them.
type DescribeRequest struct {
	// Tools are the names of the requested tools. Empty means all.
	Tools []string
	// Session is the session for dynamic tools. Empty means no particular session.
	Session string
	// Context is the session's context by key.
	Context map[string]json.RawMessage
}

// Info is what the plugin knows about a call when it begins.
type Info struct {
	CallID      string
	Tool        string
	Attempt     uint32 // from 1; 0 means 1
	EffectKey   string // empty: an older toolhost
	Session     string
	Workspace   string // an absolute path; empty means none
	Values      map[string]json.RawMessage
	Secrets     map[string]string
	Traceparent string
	// SendSpans sends finished spans of the call to toolhost, and how many further spans were
	// dropped. It blocks while toolhost does not read, and must not be called concurrently. nil
	// means that the call is not recorded.
	SendSpans func(ctx context.Context, spans []trace.Span, dropped int) error
}

// Call returns the arguments of one call, and receives what the tool reports.
type Call interface {
	// NextArguments blocks until there is more argument text. If complete is false, text is the
	// next piece, which may end anywhere. If complete is true, text is the whole text to execute,
	// whatever the pieces were, and the caller does not call NextArguments again. The error is that
	// of ctx, or says that the call was abandoned.
	NextArguments(ctx context.Context) (text []byte, complete bool, err error)
	// Send sends an event with Status or Log set. It blocks while the receiver is slow. Any
	// goroutine may call it. After the end of the call it does nothing.
	Send(ctx context.Context, event tool.Event) error
	// ReadArtifact returns a part of an artifact that the call may read, at most limit bytes and at
	// most the largest part of the transport. A limit of 0 means that largest part. After the end
	// of the artifact, the part is empty. ReadArtifact blocks, and any goroutine may call it. The
	// error is a *tool.Error of kind not_found, or that of ctx or the call.
	ReadArtifact(ctx context.Context, handle string, offset uint64, limit int) (tool.ArtifactPiece, error)
	// Ask asks the caller of the tool, and waits for the answer. Exactly one of q.Person and q.Model
	// is set. The answer has Err set if the question was refused. Any goroutine may call it. The
	// error is that of ctx or of the call, or of kind unsupported.
	Ask(ctx context.Context, q *tool.Question) (tool.Answer, error)
}

// Handler is a plugin for a transport. Many goroutines may call its methods at once.
type Handler interface {
	// Describe returns the declaration of the plugin. It takes as long as the author's code that
	// declares dynamic tools.
	Describe(ctx context.Context, req DescribeRequest) (tool.Description, error)
	// Call runs a call until the tool has returned and its object is closed. An error is a
	// *tool.Error.
	Call(ctx context.Context, info Info, call Call) (tool.Result, error)
	// Settle says what became of an earlier call with this id and these arguments. An error is a
	// *tool.Error; it is of kind unsupported if the tool has no check.
	Settle(ctx context.Context, info Info, call Call) (tool.Settlement, error)
}

// newHandler is the function that package sdk provides.
var newHandler func(plugin any, compile fit.Compile) (Handler, error)

// Provide sets the function behind NewHandler. Package sdk calls it once, when the program starts.
// The result has no meaning; it lets a variable declaration call Provide.
func Provide(f func(plugin any, compile fit.Compile) (Handler, error)) struct{} {
	newHandler = f
	return struct{}{}
}

// NewHandler returns a handler of a plugin, an sdk.Plugin, for tests: it checks the plugin, and it
// repairs and validates arguments without a toolhost. A nil compile stands for the validator of
// Plugin.Validate.
func NewHandler(plugin any, compile fit.Compile) (Handler, error) { return newHandler(plugin, compile) }
