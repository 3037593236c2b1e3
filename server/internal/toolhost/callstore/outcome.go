package callstore

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"

	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/tool"
)

// maxShortMessage bounds, in bytes, the error message that is stored as long as the id. It is
// enough for a sentence about what happened.
const maxShortMessage = 512

// Ending is the form in which stores keep an outcome.
type Ending struct {
	Stands           Standing
	Plugin, Instance string
	Short            []byte // why the call failed, shortened; nil: it did not fail
	Data             []byte // the whole outcome; nil: not stored
	Unknown          bool   // the outcome is an error of kind outcome_unknown
}

// EncodeOutcome returns the form of an outcome in a store, without the data if they have more than
// limit bytes.
func EncodeOutcome(out *tool.Outcome, limit int) (Ending, error) {
	e := Ending{Stands: standingOf(out), Plugin: out.Plugin, Instance: out.Instance}
	e.Unknown = out.Err != nil && out.Err.Kind == tool.KindOutcomeUnknown
	var err error
	if out.Err != nil {
		if e.Short, err = proto.Marshal(toolpb.FromError(shorten(out.Err))); err == nil {
			e.Data, err = proto.Marshal(toolpb.FromError(out.Err))
		}
	} else {
		e.Data, err = proto.Marshal(toolpb.FromResult(out.Result))
	}
	if len(e.Data) > limit {
		e.Data = nil
	} else if e.Data == nil {
		e.Data = []byte{} // not nil: an empty result is a result
	}
	return e, err
}

func shorten(err *tool.Error) *tool.Error {
	short := *err
	if len(short.Message) > maxShortMessage {
		short.Message = strings.ToValidUTF8(short.Message[:maxShortMessage], "") + "…"
	}
	if err.Exit != nil {
		exit := *err.Exit
		exit.LastStderr = nil
		short.Exit = &exit
	}
	return &short
}

// Decode sets what a store says about the end of the call: its standing, the short error, whether
// the data of the outcome are kept, and the data. Key, Plugin and Settled must be set. An error
// wraps ErrDamaged.
func (e *Entry) Decode(stands Standing, short []byte, kept bool, data []byte) error {
	if err := e.decode(stands, short, kept, data); err != nil {
		return err
	}
	if e.Settled == nil || !e.unknown() {
		return nil
	}
	if e.Settled.Verdict != tool.VerdictUnknown { // about an earlier execution
		e.Settled = nil
		return nil
	}
	asked := *e.Err
	asked.Message += "; the tool was asked and does not know: " + e.Settled.Reason
	e.Err = &asked
	if e.Outcome != nil && e.Outcome.Err != nil {
		e.Outcome.Err.Message += "; the tool was asked and does not know: " + e.Settled.Reason
	}
	return nil
}

func (e *Entry) decode(stands Standing, short []byte, kept bool, data []byte) error {
	e.State, e.How = stands.State(), stands.How()
	switch stands {
	case StandsUnknown:
		e.Err = &tool.Error{
			Kind: tool.KindOutcomeUnknown, CallID: e.ID, Plugin: e.Plugin,
			Message: "toolhost ended while the call was under way; whether it had its effects is not known",
		}
	case StandsFree:
		e.Err = &tool.Error{
			Kind: tool.KindUnavailable, CallID: e.ID, Plugin: e.Plugin,
			Message: "the call did not happen, as its tool said when it was asked: repeat it with its id and its arguments to execute it",
		}
	case StandsFailed:
		var err error
		if e.Err, err = decodeError(short); err != nil {
			return err
		}
	}
	if !kept || e.State != StateEnded {
		return nil
	}
	out := tool.Outcome{CallID: e.ID, Plugin: e.Plugin, Instance: e.Instance}
	if stands == StandsFailed {
		var err error
		if out.Err, err = decodeError(data); err != nil {
			return err
		}
	} else {
		var message toolv1.Result
		if err := proto.Unmarshal(data, &message); err != nil {
			return fmt.Errorf("reading the result: %w: %w", ErrDamaged, err)
		}
		out.Result = toolpb.ToResult(&message)
	}
	e.Outcome = &out
	return nil
}

func decodeError(data []byte) (*tool.Error, error) {
	var message toolv1.Error
	if err := proto.Unmarshal(data, &message); err != nil {
		return nil, fmt.Errorf("reading the error: %w: %w", ErrDamaged, err)
	}
	return toolpb.ToError(&message), nil
}
