package callstore

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"

	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	"github.com/toolhost/toolhost/internal/rpc/toolpb"
	"github.com/toolhost/toolhost/tool"
)

// maxShortMessage bounds, in bytes, the error message that is stored as long as the id. It is
// enough for a sentence about what happened.
const maxShortMessage = 512

// ending is the stored form of an outcome.
type ending struct {
	stands           standing
	plugin, instance string
	short            []byte // why the call failed, shortened; nil: it did not fail
	data             []byte // the whole outcome; nil: not stored
}

// encodeOutcome leaves out the data if they have more than limit bytes.
func encodeOutcome(out *tool.Outcome, limit int) (ending, error) {
	e := ending{stands: standingOf(out), plugin: out.Plugin, instance: out.Instance}
	var err error
	if out.Err != nil {
		if e.short, err = proto.Marshal(toolpb.FromError(shorten(out.Err))); err == nil {
			e.data, err = proto.Marshal(toolpb.FromError(out.Err))
		}
	} else {
		e.data, err = proto.Marshal(toolpb.FromResult(out.Result))
	}
	if len(e.data) > limit {
		e.data = nil
	} else if e.data == nil {
		e.data = []byte{} // not nil: an empty result is a result
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

// decodeInto sets what the columns say about the end of a call.
func decodeInto(e *Entry, stands standing, short []byte, kept bool, data []byte) error {
	e.State, e.How = stands.state(), stands.how()
	switch stands {
	case standsUnknown:
		e.Err = &tool.Error{
			Kind: tool.KindOutcomeUnknown, CallID: e.ID, Plugin: e.Plugin,
			Message: "toolhost ended while the call was under way; whether it had its effects is not known",
		}
	case standsFailed:
		var err error
		if e.Err, err = decodeError(short); err != nil {
			return err
		}
	}
	if !kept || e.State != StateEnded {
		return nil
	}
	out := tool.Outcome{CallID: e.ID, Plugin: e.Plugin, Instance: e.Instance}
	if stands == standsFailed {
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
