package pluginwire

import (
	"context"
	"errors"
	"io"

	pluginv1 "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/tool"
)

// failure is an outcome that the host's end decided, as opposed to a lost connection.
type failure struct{ outcome *tool.Error }

func (f *failure) Error() string { return f.outcome.Error() }

// Next returns the next event of the call and blocks until there is one. An event contains a
// status, a log record, a question with the plugin's number as its ID, or the outcome, without
// plugin and instance; after the outcome Next returns io.EOF. If the connection is lost before,
// Next returns an error that wraps ErrConnLost; after Close, an error of tool.KindCancelled; if ctx
// ends, its cause. Next drops statuses that violate the rules of tool.Status, and answers the
// plugin's artifact requests.
func (c *Call) Next(ctx context.Context) (tool.Event, error) {
	for !c.finished {
		frame, err := c.inbox.Next(ctx)
		if err != nil {
			return c.interrupted(err)
		}
		if question := frame.GetReadArtifact(); question != nil {
			if err := c.answer(ctx, question); err != nil {
				return tool.Event{}, err
			}
			continue
		}
		if event, ended, err := c.reserve(ctx, frame); ended || err != nil {
			return event, err
		}
		if event, ok := c.event(frame); ok {
			return event, nil
		}
	}
	return tool.Event{}, io.EOF
}

// smallEnd is the size of an end for which no memory is reserved.
const smallEnd = 8 << 10

// reserve reserves memory for the part of the result in a frame. It reserves twice the size,
// because the pieces are joined at the end. ended says that the reservation failed and that the
// call is over.
func (c *Call) reserve(ctx context.Context, frame *pluginv1.ConnectResponse) (event tool.Event, ended bool, err error) {
	size := 2 * len(frame.GetChunk().GetData())
	if end := frame.GetEnd(); end != nil {
		if size = end.SizeWire(); size <= smallEnd {
			return tool.Event{}, false, nil
		}
	}
	if c.hold == nil || size == 0 {
		return tool.Event{}, false, nil
	}
	if err = c.hold(ctx, size); err == nil || ctx.Err() != nil {
		return tool.Event{}, false, err
	}
	refused := tool.AsError(err)
	c.fail(refused)
	return c.outcome(tool.Result{}, refused), true, nil
}

// errCallClosed ends the inbox of a closed call. It is a constant, because every call is closed,
// but few readers continue afterwards; interrupted converts it.
var errCallClosed = errors.New("the call was closed")

// interrupted returns the error for the end of an inbox.
func (c *Call) interrupted(err error) (tool.Event, error) {
	if errors.Is(err, errCallClosed) {
		return tool.Event{}, tool.Errorf(tool.KindCancelled, "%w", err)
	}
	if f, ok := errors.AsType[*failure](err); ok {
		return c.outcome(tool.Result{}, f.outcome), nil
	}
	if e, ok := errors.AsType[*tool.Error](err); ok && errors.Is(err, ErrConnLost) {
		copied := *e // all calls of a connection share one error, and callers change theirs
		copied.CallID = c.id
		return tool.Event{}, &copied
	}
	return tool.Event{}, err
}

// event converts a frame to an event. It returns false if the frame is not an event.
func (c *Call) event(frame *pluginv1.ConnectResponse) (event tool.Event, ok bool) {
	switch f := frame.GetFrame().(type) {
	case *pluginv1.ConnectResponse_Status:
		return c.status(toolpb.ToStatus(f.Status))
	case *pluginv1.ConnectResponse_Progress:
		progress := toolpb.ToProgress(f.Progress)
		return c.status(tool.Status{Progress: &progress})
	case *pluginv1.ConnectResponse_Log:
		record := toolpb.ToLogRecord(f.Log)
		quoteOthers(record.Attributes)
		return tool.Event{Log: &record}, true
	case *pluginv1.ConnectResponse_Spans:
		c.takeSpans(frame)
		return tool.Event{}, false
	case *pluginv1.ConnectResponse_Chunk:
		if err := c.result.add(f.Chunk); err != nil {
			c.fail(err)
			return c.outcome(tool.Result{}, err), true
		}
		return tool.Event{}, false
	case *pluginv1.ConnectResponse_AskPerson, *pluginv1.ConnectResponse_AskModel:
		return tool.Event{Question: questionOf(frame)}, true
	case *pluginv1.ConnectResponse_End:
		return c.end(f.End), true
	default: // a frame of a newer contract
		return tool.Event{}, false
	}
}

func (c *Call) status(s tool.Status) (tool.Event, bool) {
	if !c.statuses.admit(&s) {
		return tool.Event{}, false
	}
	return tool.Event{Status: &s}, true
}

func (c *Call) end(end *pluginv1.CallEnd) tool.Event {
	switch o := end.GetOutcome().(type) {
	case *pluginv1.CallEnd_Settlement:
		return c.settled(o.Settlement)
	case *pluginv1.CallEnd_Result:
		if c.settles {
			return c.outcome(tool.Result{}, broken("it was asked what became of a call, and answered with a result"))
		}
		result, err := c.result.finish(o.Result)
		return c.outcome(result, err)
	case *pluginv1.CallEnd_Error:
		err := toolpb.ToError(o.Error)
		err.Plugin, err.Instance, err.Exit = "", "", nil // a plugin must not set these
		return c.outcome(tool.Result{}, err)
	default:
		return c.outcome(tool.Result{}, tool.Errorf(tool.KindInternal, "the plugin broke the contract: the call ended without an outcome"))
	}
}

// settled returns the last event of a call that asks what became of an earlier one.
func (c *Call) settled(s *pluginv1.Settlement) tool.Event {
	if !c.settles {
		return c.outcome(tool.Result{}, broken("it said what became of a call, and was to execute it"))
	}
	if s.GetCallId() != c.id {
		return c.outcome(tool.Result{}, broken("it said what became of another call than it was asked about"))
	}
	said := &tool.Settlement{Verdict: tool.VerdictUnknown, Reason: clip(validText(s.GetReason()), maxReason)}
	switch s.GetVerdict() {
	case pluginv1.SettlementVerdict_SETTLEMENT_VERDICT_HAPPENED:
		said.Verdict = tool.VerdictHappened
	case pluginv1.SettlementVerdict_SETTLEMENT_VERDICT_DID_NOT_HAPPEN:
		said.Verdict = tool.VerdictDidNotHappen
	}
	if s.GetResult() != nil && said.Verdict == tool.VerdictHappened {
		result, err := c.result.finish(s.GetResult())
		if err != nil {
			return c.outcome(tool.Result{}, err)
		}
		said.Result = &result
	}
	ended := c.outcome(tool.Result{}, nil)
	ended.Ended.Settled = said
	return ended
}

// outcome returns the last event of the call.
func (c *Call) outcome(result tool.Result, err *tool.Error) tool.Event {
	c.finished = true
	c.result = assembly{}
	if err != nil {
		err.CallID = c.id
	}
	return tool.Event{Ended: &tool.Outcome{CallID: c.id, Result: result, Err: err}}
}
