// Package transport is the seam between the tools of a plugin and whatever brings them calls: the wire in a plugin
// process, sdktest in a test.
//
// It owns the interface alone, and the adapter that puts it on the wire. Running tools is package sdk's.
package transport

import (
	"context"
	"encoding/json"

	"github.com/toolhost/toolhost/sdk/internal/fit"
	"github.com/toolhost/toolhost/tool"
)

// DescribeRequest asks for a plugin's tools. The zero value asks for all of them.
type DescribeRequest struct {
	// Tools are the names of the tools asked for. Empty means all.
	Tools []string
	// Session is the one for which dynamic tools are described. Empty means none in particular.
	Session string
	// Context is the session's context by key.
	Context map[string]json.RawMessage
}

// Info is what is known of a call when it begins.
type Info struct {
	CallID      string
	Tool        string
	Attempt     uint32 // from 1; 0 means 1
	Session     string
	Workspace   string // an absolute path; empty means none
	Values      map[string]json.RawMessage
	Secrets     map[string]string
	Traceparent string
}

// Call brings the arguments of one call and takes what is said of it.
type Call interface {
	// NextArguments blocks for more argument text. With complete unset, text is the next piece, which may end anywhere.
	// With complete set, text is the whole of the arguments, to be executed, whatever the pieces were; it is not called
	// again after that. The error is ctx's, or says that the call was abandoned.
	NextArguments(ctx context.Context) (text []byte, complete bool, err error)
	// Send hands on an event with Status or Log set, and blocks while the receiver is slow. It may be called from any
	// goroutine; after the call has ended it does nothing.
	Send(ctx context.Context, event tool.Event) error
	// ReadArtifact returns a piece of an artifact that the call may see: at most limit bytes, and never more than the
	// transport likes, which is all that 0 says; none behind the end. It blocks, and may be called from any goroutine. The
	// error is a not_found *tool.Error, or that of ctx or the call.
	ReadArtifact(ctx context.Context, handle string, offset uint64, limit int) (tool.ArtifactPiece, error)
}

// Handler is a plugin as a transport sees it. Its methods may be called from many goroutines at once.
type Handler interface {
	// Describe says what the plugin is. It takes as long as the author's code that describes dynamic tools.
	Describe(ctx context.Context, req DescribeRequest) (tool.Description, error)
	// Call runs a call to its end: until the tool has returned and its object is closed. An error is a *tool.Error.
	Call(ctx context.Context, info Info, call Call) (tool.Result, error)
}

// newHandler is the function that package sdk provides.
var newHandler func(plugin any, compile fit.Compile) (Handler, error)

// Provide sets the function behind NewHandler. Package sdk calls it once, when the program starts. The
// result has no meaning; it lets a variable declaration call Provide.
func Provide(f func(plugin any, compile fit.Compile) (Handler, error)) struct{} {
	newHandler = f
	return struct{}{}
}

// NewHandler returns a handler of a plugin, an sdk.Plugin, for tests: it checks the plugin, and it repairs
// and validates arguments without a toolhost. A nil compile stands for the validator of Plugin.Validate.
func NewHandler(plugin any, compile fit.Compile) (Handler, error) { return newHandler(plugin, compile) }
