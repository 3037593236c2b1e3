package host

import (
	"log/slog"
	"time"

	"github.com/toolhost/toolhost/internal/wire/trace"
	"github.com/toolhost/toolhost/server/internal/audit"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/question"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/supervisor"
	"github.com/toolhost/toolhost/tool"
)

// Observer receives reports about calls, for metrics and traces. The host calls the methods on the
// goroutines that execute calls, so the methods must not block. They must be safe for concurrent
// use.
//
// The number of reports for a call is fixed: CallBegan when the call begins, and CallEnded when the
// call has its outcome. What happens between the two goes to the Span that CallBegan returned. The
// host does not report a call that joins another one or gets a stored outcome.
type Observer interface {
	// CallBegan returns the span of a call that arrived at a time; nil if the call is not recorded.
	// The call of a filter has the trace context of the filtered call: it is sampled only if the
	// filtered call is recorded. The method must not change the call, and must not use it after
	// returning.
	CallBegan(call *tool.Call, kind CallKind, arrived time.Time) Span
	CallEnded(end *CallEnd)
	// CallRefused reports a call that could not begin, such as one of an unknown tool.
	CallRefused(name string, kind tool.Kind)
	// CallDecided reports what the policy decided, and by which rule; rule may be empty.
	CallDecided(outcome audit.Outcome, rule string)
	// CallAsked reports the end of a question of a plugin's tool.
	CallAsked(plugin string, kind tool.QuestionKind, outcome question.Outcome)
}

// PluginObserver receives reports about plugins and their instances. See supervisor.Observer.
type PluginObserver = supervisor.Observer

// Span is the record of one call in a trace. The methods must not block, and must be safe for
// concurrent use. They do nothing after the call has ended.
type Span interface {
	// Traceparent returns the trace context that the call passes on to what it causes, such as its
	// plugin's work.
	Traceparent() string
	// Event adds something that happened now.
	Event(name string, attributes ...slog.Attr)
	// Arguments adds the final arguments if the operator enabled their recording. text returns the
	// arguments without secrets.
	Arguments(text func() string)
	// Returned adds the spans that a plugin returned. dropped is the number of further spans that
	// were dropped.
	Returned(plugin string, spans []trace.Span, dropped int)
}

// CallKind says what a call is for.
type CallKind int

const (
	// ToolCall is a call of a tool.
	ToolCall CallKind = iota
	// FilterCall is a call of a filter before or after the call of a tool.
	FilterCall
	// Review decides about a call and executes nothing. Observers do not see it.
	Review
)

// CallEnd is how a call ended.
type CallEnd struct {
	Call    *tool.Call // without the arguments
	Kind    CallKind
	Plugin  string
	Span    Span // what CallBegan returned
	Outcome *tool.Outcome

	Arrived  time.Time
	Total    time.Duration // since Arrived
	Waited   time.Duration // until an instance got the call; 0 if none did
	Cost     float64
	Attempts int  // how often an instance got the call
	Cold     bool // the call waited for the launch of an instance
}
