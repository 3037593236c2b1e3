package hostpb

import (
	"fmt"
	"iter"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/tool"
)

// CatalogHealth is the name under which grpc.health.v1 says whether a toolhost knows the tools of
// all plugins that it found at its start.
const CatalogHealth = "toolhost.catalog"

const (
	// MaxMessageBytes is the maximum size of a message in both directions.
	MaxMessageBytes = 4 << 20
	// ChunkBytes is the maximum size of one piece of a result or of argument text. It is small
	// enough that the calls of a stream take turns, and large enough that frames add little cost.
	ChunkBytes = 64 << 10
	// Window is the number of bytes of events that a call may send before its reader grants more
	// credit.
	Window = 256 << 10

	// maxEventBytes limits an event that cannot be split. It leaves room for the frame around it.
	maxEventBytes = MaxMessageBytes - 4<<10
)

// FromEvent returns the messages that carry an event, in order: one message, preceded by the pieces
// of a large result. All have the sequence number and the time of the event. An event that does not
// fit into a message is replaced by an error, because the message would end the stream of all
// calls.
func FromEvent(e tool.Event) iter.Seq[*toolhostv1.CallEvent] {
	if e.Ended != nil {
		return endOf(e)
	}
	m := &toolhostv1.CallEvent{Seq: e.Seq, Time: toolpb.FromTime(e.Time)}
	setEvent(m, e)
	if size := proto.Size(m); size > maxEventBytes {
		text := fmt.Sprintf("an event of %d bytes was left out: it is larger than %d", size, maxEventBytes)
		setEvent(m, tool.Event{Log: &tool.LogRecord{Level: tool.LogWarn, Message: text}})
	}
	return only(m)
}

func only(m *toolhostv1.CallEvent) iter.Seq[*toolhostv1.CallEvent] {
	return func(yield func(*toolhostv1.CallEvent) bool) { yield(m) }
}

// endParts holds all parts of an outcome in one allocation, because every call has one.
type endParts struct {
	event  toolhostv1.CallEvent
	time   timestamppb.Timestamp
	set    toolhostv1.CallEvent_Ended
	ended  toolhostv1.CallEnded
	result toolhostv1.CallEnded_Result
}

// endOf returns the messages that carry an outcome.
func endOf(e tool.Event) iter.Seq[*toolhostv1.CallEvent] {
	parts := &endParts{}
	m := &parts.event
	m.Seq, m.Event = e.Seq, &parts.set
	if parts.time.Seconds, parts.time.Nanos = e.Time.Unix(), int32(e.Time.Nanosecond()); !e.Time.IsZero() && parts.time.IsValid() {
		m.Time = &parts.time
	}
	parts.set.Ended = &parts.ended
	parts.setOutcome(e.Ended)
	if small(e.Ended) {
		return only(m)
	}
	return func(yield func(*toolhostv1.CallEvent) bool) {
		for chunk := range cut(parts.ended.GetResult()) {
			piece := &toolhostv1.CallEvent{Seq: m.GetSeq(), Time: m.GetTime(), Event: &toolhostv1.CallEvent_Chunk{Chunk: chunk}}
			if !yield(piece) {
				return
			}
		}
		parts.set.Ended = fitting(&parts.ended)
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
			Asks:     toolpb.FromQuestionKinds(e.Started.Asks),
		}}
	case e.Status != nil:
		m.Event = &toolhostv1.CallEvent_Status{Status: toolpb.FromStatus(*e.Status)}
	case e.Log != nil:
		m.Event = &toolhostv1.CallEvent_Log{Log: toolpb.FromLogRecord(*e.Log)}
	case e.Question != nil:
		m.Event = &toolhostv1.CallEvent_Question{Question: fromQuestion(e.Question)}
	case e.Closed != nil:
		m.Event = &toolhostv1.CallEvent_QuestionClosed{QuestionClosed: &toolhostv1.QuestionClosed{
			Question: e.Closed.ID, Reason: questionEnds[e.Closed.Reason],
		}}
	}
}

func (p *endParts) setOutcome(o *tool.Outcome) {
	p.ended.CallId, p.ended.Plugin, p.ended.Instance, p.ended.Replayed = valid(o.CallID), valid(o.Plugin), valid(o.Instance), o.Replayed
	p.ended.Settled = FromSettled(o.Settled)
	if o.Err != nil {
		p.ended.Outcome = &toolhostv1.CallEnded_Error{Error: toolpb.FromError(o.Err)}
		return
	}
	p.result.Result = toolpb.FromResult(o.Result)
	p.ended.Outcome = &p.result
}

// small reports whether an outcome certainly fits into one message, without measuring it.
func small(o *tool.Outcome) bool {
	const most, fixed = ChunkBytes, 64
	size := len(o.CallID) + len(o.Plugin) + len(o.Instance)
	for i := range o.Result.Content {
		c := &o.Result.Content[i]
		if c.Artifact != nil {
			return false
		}
		size += fixed + len(c.Text) + len(c.JSON) + len(c.MediaType) + len(c.Name) + len(c.Data) + len(c.URI)
	}
	return o.Err == nil && o.Settled == nil && len(o.Result.Effects)+len(o.Result.Metadata) == 0 && size <= most
}

// fitting returns ended, or an error in its place if the part that cannot be split does not fit
// into a message.
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

// toOutcome converts an outcome. An empty one is an internal error.
func toOutcome(ended *toolhostv1.CallEnded, result *toolv1.Result) *tool.Outcome {
	o := &tool.Outcome{
		CallID:   ended.GetCallId(),
		Plugin:   ended.GetPlugin(),
		Instance: ended.GetInstance(),
		Replayed: ended.GetReplayed(),
		Settled:  ToSettled(ended.GetSettled()),
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
