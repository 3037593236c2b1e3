package hostpb

import (
	"fmt"
	"iter"

	"google.golang.org/protobuf/proto"

	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/toolpb"
	"github.com/toolhost/toolhost/tool"
)

const (
	// MaxMessageBytes is what either end of the API accepts in one message.
	MaxMessageBytes = 4 << 20
	// ChunkBytes is the most that one piece of a result or of argument text holds: small enough that the calls of a
	// stream take turns, large enough that frames cost little.
	ChunkBytes = 64 << 10
	// Window is how many bytes of events a call may send before its reader grants more.
	Window = 256 << 10

	// maxEventBytes bounds an event that cannot be cut, with room for the frame around it.
	maxEventBytes = MaxMessageBytes - 4<<10
)

// FromEvent returns the messages that carry an event, in order. There is one, and before it, for the outcome of a large
// result, the result's pieces. Sequence number and time are the event's. An event that fits no message is replaced by
// one that says so, because it would end the stream and with it other calls.
func FromEvent(e tool.Event) iter.Seq[*toolhostv1.CallEvent] {
	return func(yield func(*toolhostv1.CallEvent) bool) {
		message := func(set func(*toolhostv1.CallEvent)) *toolhostv1.CallEvent {
			m := &toolhostv1.CallEvent{Seq: e.Seq, Time: toolpb.FromTime(e.Time)}
			set(m)
			return m
		}
		if e.Ended != nil {
			ended := fromOutcome(*e.Ended)
			for chunk := range cut(ended.GetResult()) {
				piece := message(func(m *toolhostv1.CallEvent) { m.Event = &toolhostv1.CallEvent_Chunk{Chunk: chunk} })
				if !yield(piece) {
					return
				}
			}
			yield(message(func(m *toolhostv1.CallEvent) { m.Event = &toolhostv1.CallEvent_Ended{Ended: fitting(ended)} }))
			return
		}
		m := message(func(m *toolhostv1.CallEvent) { setEvent(m, e) })
		if size := proto.Size(m); size > maxEventBytes {
			text := fmt.Sprintf("an event of %d bytes was left out: it is larger than %d", size, maxEventBytes)
			setEvent(m, tool.Event{Log: &tool.LogRecord{Level: tool.LogWarn, Message: text}})
		}
		yield(m)
	}
}

func setEvent(m *toolhostv1.CallEvent, e tool.Event) {
	switch {
	case e.Started != nil:
		m.Event = &toolhostv1.CallEvent_Started{Started: &toolhostv1.CallStarted{
			CallId:   valid(e.Started.CallID),
			Plugin:   valid(e.Started.Plugin),
			Instance: valid(e.Started.Instance),
			Attempt:  e.Started.Attempt,
		}}
	case e.Status != nil:
		m.Event = &toolhostv1.CallEvent_Status{Status: toolpb.FromStatus(*e.Status)}
	case e.Log != nil:
		m.Event = &toolhostv1.CallEvent_Log{Log: toolpb.FromLogRecord(*e.Log)}
	}
}

func fromOutcome(o tool.Outcome) *toolhostv1.CallEnded {
	ended := &toolhostv1.CallEnded{
		CallId:   valid(o.CallID),
		Plugin:   valid(o.Plugin),
		Instance: valid(o.Instance),
		Replayed: o.Replayed,
	}
	if o.Err != nil {
		ended.Outcome = &toolhostv1.CallEnded_Error{Error: toolpb.FromError(o.Err)}
	} else {
		ended.Outcome = &toolhostv1.CallEnded_Result{Result: toolpb.FromResult(o.Result)}
	}
	return ended
}

// fitting returns ended, or in its place the error that what cannot be cut of it fits no message.
func fitting(ended *toolhostv1.CallEnded) *toolhostv1.CallEnded {
	size := proto.Size(ended)
	if size <= maxEventBytes {
		return ended
	}
	err := tool.Errorf(tool.KindInternal, "the outcome cannot be sent: besides its content it has %d bytes, more than %d", size, maxEventBytes)
	err.CallID, err.Plugin, err.Instance = ended.GetCallId(), ended.GetPlugin(), ended.GetInstance()
	ended.Outcome = &toolhostv1.CallEnded_Error{Error: toolpb.FromError(err)}
	return ended
}

// toOutcome converts the end of a call. An end without an outcome is an internal error.
func toOutcome(ended *toolhostv1.CallEnded, result *toolv1.Result) *tool.Outcome {
	o := &tool.Outcome{
		CallID:   ended.GetCallId(),
		Plugin:   ended.GetPlugin(),
		Instance: ended.GetInstance(),
		Replayed: ended.GetReplayed(),
	}
	switch {
	case ended.GetError() != nil:
		o.Err = toolpb.ToError(ended.GetError())
	case result != nil:
		o.Result = toolpb.ToResult(result)
	default:
		o.Err = tool.Errorf(tool.KindInternal, "the call ended without a result and without an error")
		o.Err.CallID = o.CallID
	}
	return o
}
