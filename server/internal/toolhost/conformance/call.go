package conformance

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	pluginv1 "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/tool"
)

// call is one call, and what the plugin sent for it.
type call struct {
	stream *stream
	number uint32
	tool   string
	ended  chan struct{} // closed at the first end

	mu       sync.Mutex
	credit   int
	frugal   bool // only the probe grants credit
	settles  bool // it asks what became of another call
	heard    int  // the number of frames received
	state    toolv1.StatusState
	progress float64
	logged   bool
	blocks   map[uint32][]byte // content that arrived in chunks
	chunked  int               // in bytes
	end      *pluginv1.CallEnd
	problems []problem
}

func newCall(s *stream, number uint32, start *pluginv1.StartCall) *call {
	c := &call{stream: s, number: number, tool: start.GetTool(), ended: make(chan struct{}), blocks: map[uint32][]byte{}}
	c.frugal, c.settles = start.GetCredit() > 0, start.GetSettle()
	if !c.frugal {
		start.Credit = plenty
	}
	c.credit = int(start.GetCredit())
	return c
}

// append sends a piece of the arguments.
func (c *call) append(text []byte) error {
	return c.stream.send(c.number, &pluginv1.ConnectRequest_Append{Append: &pluginv1.AppendArguments{Text: text}})
}

// complete completes the arguments. A non-empty text replaces the pieces.
func (c *call) complete(arguments []byte) error {
	return c.stream.send(c.number, &pluginv1.ConnectRequest_Complete{Complete: &pluginv1.CompleteArguments{Arguments: arguments}})
}

// cancel cancels the call.
func (c *call) cancel() error {
	return c.stream.send(c.number, &pluginv1.ConnectRequest_Cancel{Cancel: &pluginv1.CancelCall{Reason: "toolhost verify cancels it"}})
}

// wait reports whether the call ends within d. It returns false at once if the stream ends.
func (c *call) wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-c.ended:
		return true
	case <-timer.C:
	case <-ctx.Done():
	case <-c.stream.done:
		return c.over()
	}
	return false
}

// over reports whether the call has ended.
func (c *call) over() bool {
	select {
	case <-c.ended:
		return true
	default:
		return false
	}
}

// lenient discards the problems of the result's content. It is for calls whose arguments toolhost
// would never send.
func (c *call) lenient() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.problems = slices.DeleteFunc(c.problems, func(p problem) bool { return strings.HasPrefix(p.check, "results.") })
}

// isShort reports whether the call has used up its credit.
func (c *call) isShort() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.credit <= 0
}

// outcome describes how the call ended.
func (c *call) outcome() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch o := c.end.GetOutcome().(type) {
	case *pluginv1.CallEnd_Result:
		result := tool.Result{}
		if o.Result != nil {
			result = toolpb.ToResult(o.Result)
		}
		if result.IsError {
			return "a result that is an error: " + quote(result.Text())
		}
		return "a result"
	case *pluginv1.CallEnd_Error:
		e := toolpb.ToError(o.Error)
		return fmt.Sprintf("the error %s: %s", e.Kind, quote(e.Message))
	case *pluginv1.CallEnd_Settlement:
		return "a settlement"
	default:
		return "no end"
	}
}

// kind returns the kind of the error with which the call ended, or "" if it ended otherwise.
func (c *call) kind() tool.Kind {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.end.GetError(); e != nil {
		return toolpb.ToError(e).Kind
	}
	return ""
}

// isResult reports whether the call ended with a result, and whether the result is an error.
func (c *call) isResult() (result, isError bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.end.GetResult() != nil, c.end.GetResult().GetIsError()
}
