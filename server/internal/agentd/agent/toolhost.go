package agent

import (
	"context"
	"iter"

	"github.com/toolhost/toolhost/tool"
)

// Tools is the agent's view of a toolhost. Package client implements it. It is safe for concurrent
// use.
type Tools interface {
	// ListTools returns the tools that match, including those that cannot be called now.
	ListTools(ctx context.Context, query tool.Query) ([]tool.Info, error)
	// Open begins a call, or joins it if its id is known. complete means that the arguments are
	// complete. ctx limits the request and the execution's events. A call with an id continues when
	// ctx ends. After an error, this Open has not begun the call.
	Open(ctx context.Context, call tool.Call, complete bool) (tool.Execution, error)
	// CancelCall requests the cancellation of a call by its id and does not wait for its end. It
	// does nothing for a call that has ended. KindNotFound means that the call is unknown.
	CancelCall(ctx context.Context, key tool.CallKey, reason string) error
	// AnswerQuestion answers a question that the tool of a call has asked. KindNotFound means that
	// the question is not open, and KindInvalidArgument that the answer does not fit it.
	AnswerQuestion(ctx context.Context, key tool.CallKey, question uint32, answer tool.Answer) error
	// WatchCall yields the events of a known call up to its end. It never begins a call.
	WatchCall(ctx context.Context, key tool.CallKey, after uint64) iter.Seq2[tool.Event, error]
}

// ToolSearch finds tools by words. Package client implements it. It is safe for concurrent use.
type ToolSearch interface {
	// SearchTools returns the tools that match the query and the words, the best match first.
	SearchTools(ctx context.Context, words string, query tool.Query) ([]tool.Match, error)
}

// mayRecover reports whether another attempt may succeed after an error. A refusal is final.
func mayRecover(err error) bool {
	switch tool.KindOf(err) {
	case tool.KindInvalidArgument, tool.KindNotFound, tool.KindDenied, tool.KindApprovalRequired, tool.KindConflict, tool.KindOutcomeUnknown,
		tool.KindUnsupported:
		return false
	}
	return true
}
