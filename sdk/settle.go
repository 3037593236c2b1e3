package sdk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/toolhost/toolhost/sdk/internal/transport"
	"github.com/toolhost/toolhost/tool"
)

// The types of what a check says about an earlier call; see Settle.
type (
	// Settlement says whether an earlier call had its effect, and how the tool knows. The zero
	// value says that the tool does not know.
	//
	//	Verdict  Verdict  whether the call happened; empty: VerdictUnknown
	//	Result   *Result  what it returned, if it happened; nil: unknown. Happened sets it
	//	Reason   string   how the tool knows, in one line for people and models; may be empty
	Settlement = tool.Settlement
	// Verdict is VerdictHappened, VerdictDidNotHappen or VerdictUnknown.
	Verdict = tool.Verdict
)

// The verdicts of a Settlement.
const (
	// VerdictHappened means that the call had its whole effect. toolhost never executes it again.
	VerdictHappened = tool.VerdictHappened
	// VerdictDidNotHappen means that the call had no effect, and can have none later. toolhost may
	// execute it under the same call id. In doubt, use VerdictUnknown.
	VerdictDidNotHappen = tool.VerdictDidNotHappen
	// VerdictUnknown means that the tool does not know, or that the call had a part of its effect.
	VerdictUnknown = tool.VerdictUnknown
)

// Happened returns the settlement of a call that had its whole effect. result is what the tool
// would have returned: a value of its output type, a text, or content. nil means that the tool does
// not know it. A part of it without a JSON form becomes text. Blocks that are not well-formed are
// left out, because the call has happened in any case. So is a result that does not fit the output
// schema of the tool.
func Happened(result any) Settlement {
	s := Settlement{Verdict: VerdictHappened}
	if result == nil {
		return s
	}
	if r, err := resultOf(result, func(string) {}); err == nil {
		s.Result = &r
	}
	return s
}

// Settle returns the tool with a check of calls whose outcome is unknown: the plugin or toolhost
// ended while they ran. Without a check, a person or the model must find out what became of such a
// call.
//
//	sdk.Settle(sdk.Func(spec, pay), func(ctx context.Context, in payment) (sdk.Settlement, error) {
//		receipt, found, err := bank.Find(ctx, sdk.CallID(ctx))
//		switch {
//		case err != nil:
//			return sdk.Settlement{}, err
//		case !found:
//			return sdk.Settlement{Verdict: sdk.VerdictDidNotHappen, Reason: "the bank has no such payment"}, nil
//		}
//		return sdk.Happened(receipt), nil
//	})
//
// The check gets the arguments of the call, and its context has the call id, the session, the
// workspace, the context values and the secrets of the call. It has a short deadline. It must
// change nothing, apart from sealing, and cannot report statuses, ask questions or open artifacts.
// toolhost runs it only when the call no longer runs, unless the check seals, and maybe several
// times. An error, a panic and a late answer mean VerdictUnknown.
//
// The check relies on a record of the tool's own, in the place where the effect happens: pass the
// call id along with the effect, such as an idempotency key of the service, so that the record and
// the effect cannot differ. A tool that is ReadOnly must have no check. One that is Idempotent
// needs none, because toolhost repeats its calls.
//
// A check seals if VerdictDidNotHappen promises that the execution has no effect later either, also
// if it still runs in a process that nobody can reach. To declare it, set Seals of the Spec. The
// effect happens with EffectKey in a unique place, and the check takes that place before it says
// so:
//
//	// pay:   INSERT INTO payments (key, receipt) VALUES ($1, $2)
//	// check: INSERT INTO payments (key) VALUES ($1) ON CONFLICT DO NOTHING
//	//        and then: SELECT receipt FROM payments WHERE key = $1, where NULL means that it did not happen
//
// Of several toolhosts that share a ledger, each may then ask it, also while the one that had the
// call is silent.
func Settle[In any](t Tool, check func(ctx context.Context, in In) (Settlement, error)) Tool {
	t.spec.Settles = true
	in := reflect.TypeFor[In]()
	switch {
	case check == nil:
		t.err = errors.Join(t.err, errors.New("its check of unknown outcomes is nil"))
	case t.input != nil && t.input != in:
		t.err = errors.Join(t.err, fmt.Errorf("its check of unknown outcomes takes a %s, but its calls take a %s", in, t.input))
	}
	t.settle = func(ctx context.Context, arguments json.RawMessage, decode decoder) (Settlement, error) {
		var in In
		if err := decode(arguments, &in); err != nil {
			return Settlement{}, err
		}
		return check(ctx, in)
	}
	return t
}

// checkSettle returns what is wrong with the declaration of a check.
func (t Tool) checkSettle() error {
	switch {
	case t.spec.Settles && t.settle == nil:
		return errors.New("it declares Settles, but has no check; use Settle")
	case t.spec.Seals && t.settle == nil:
		return errors.New("it declares Seals, but has no check; use Settle")
	case t.settle != nil && t.spec.ReadOnly:
		return errors.New("it is ReadOnly and has a check of unknown outcomes; a call that changes nothing needs none")
	}
	return nil
}

// Settle runs the check of a tool to its end.
func (s *server) Settle(ctx context.Context, info transport.Info, out transport.Call) (tool.Settlement, error) {
	s.begin()
	defer s.end()
	t, ok := s.tools[info.Tool]
	switch {
	case !ok:
		return tool.Settlement{}, tool.Errorf(tool.KindNotFound, "the plugin %q has no tool %q", s.description.Name, info.Tool)
	case t.settle == nil:
		return tool.Settlement{}, tool.Errorf(tool.KindUnsupported, "the tool %q cannot say what became of a call", info.Tool)
	case t.seals && info.EffectKey == "":
		return tool.Settlement{Reason: "toolhost does not say which execution it asks about"}, nil
	}
	c := newCall(ctx, info, onlyLog{out})
	defer c.finish(true)
	settlement, err := t.runCheck(c)
	if err != nil {
		return tool.Settlement{}, checkFailed(c, err)
	}
	return settlement, nil
}

func (t *servedTool) runCheck(c *call) (Settlement, error) {
	text, err := t.receive(c, object{})
	if err != nil {
		return Settlement{}, err
	}
	s, err := guard(c, "the check of tool", func() (Settlement, error) {
		arguments, err := t.read(c, text)
		if err != nil {
			return Settlement{}, err
		}
		return t.settle(c, arguments, t.into)
	})
	if err != nil {
		return Settlement{}, err
	}
	switch s.Verdict {
	case "", VerdictUnknown, VerdictDidNotHappen:
		s.Result = nil
	case VerdictHappened:
		if s.Result != nil {
			result, err := wellFormed(*s.Result)
			if err != nil {
				return Settlement{}, Internal("the check of tool %q: %w", t.name, err)
			}
			s.Result = &result
		}
	default:
		return Settlement{}, Internal("the check of tool %q returned the verdict %q", t.name, s.Verdict)
	}
	return s, nil
}

// checkFailed converts an error of a check. It is never a result, because no model reads it.
func checkFailed(c *call, err error) *tool.Error {
	result, infra := outcome(c, err)
	if infra == nil {
		return Internal("the check of tool %q: %s", c.info.Tool, result.Text())
	}
	return tool.AsError(infra)
}

// onlyLog is the call of a check, which can do nothing but log.
type onlyLog struct{ transport.Call }

// Send sends a log record, and drops a status.
func (o onlyLog) Send(ctx context.Context, event tool.Event) error {
	if event.Log == nil {
		return nil
	}
	return o.Call.Send(ctx, event)
}

// ReadArtifact refuses.
func (onlyLog) ReadArtifact(context.Context, string, uint64, int) (tool.ArtifactPiece, error) {
	return tool.ArtifactPiece{}, tool.Errorf(tool.KindUnsupported, "a check of an unknown outcome cannot open artifacts")
}

// Ask refuses.
func (onlyLog) Ask(context.Context, *tool.Question) (tool.Answer, error) {
	return tool.Answer{}, tool.Errorf(tool.KindUnsupported, "a check of an unknown outcome cannot ask")
}
