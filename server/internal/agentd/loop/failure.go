package loop

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// errorResult returns the result of a call that is not made.
func errorResult(c *Call, words string) *CallResult {
	return &CallResult{CallID: c.ID, Tool: c.Tool, Result: tool.ErrorResult(words)}
}

// OutcomeResult returns the result of a call that has ended.
func OutcomeResult(c *Call, out *tool.Outcome) *CallResult {
	if out.Err != nil {
		r := FailureResult(c, out.Err)
		r.Plugin, r.Instance, r.Settled = cmp.Or(out.Plugin, r.Plugin), cmp.Or(out.Instance, r.Instance), out.Settled
		return r
	}
	r := &CallResult{CallID: c.ID, Tool: c.Tool, Result: out.Result, Plugin: out.Plugin, Instance: out.Instance, Settled: out.Settled}
	if _, err := Marshal(r); err != nil {
		bad := FailureResult(c, tool.Errorf(tool.KindInternal, "the tool's answer is not well-formed: %w", err))
		bad.Plugin, bad.Instance = out.Plugin, out.Instance
		return bad
	}
	return r
}

// FailureResult returns the result of a call that failed in the infrastructure: a message for the
// model, and the typed error for people.
func FailureResult(c *Call, e *tool.Error) *CallResult {
	final, digest := finalArguments(e)
	words := fmt.Sprintf("[%s] %s", e.Kind, e.Error())
	if hint := hint(e); hint != "" {
		words = strings.TrimRight(words, ". ") + ". " + hint
	}
	result := tool.ErrorResult(words)
	result.Cost = e.Cost
	return &CallResult{
		CallID: c.ID, Tool: c.Tool, Result: result, Plugin: e.Plugin, Instance: e.Instance,
		Failure: &Failure{
			Kind: e.Kind, Message: e.Error(), RetryAfterMS: e.RetryAfter.Milliseconds(),
			Plugin: e.Plugin, Instance: e.Instance, Exit: e.Exit, Rule: e.Rule,
			Final: final, FinalSHA256: digest, FourEyes: e.FourEyes, Approvers: e.ApproverGroups, Definition: e.DefinitionSHA256,
			SessionMove: e.SessionMove,
		},
	}
}

// unverified replaces a digest from toolhost that does not match the final arguments. The agent
// never asks a person to approve such arguments.
const unverified = "unverified"

// finalArguments returns the final arguments that toolhost reports for a call, and their digest.
// They count only if the digest matches, because the person sees the arguments and approves the
// digest.
func finalArguments(e *tool.Error) (final json.RawMessage, digest string) {
	if len(e.Arguments) == 0 {
		return nil, e.ArgumentsSHA256
	}
	sum := sha256.Sum256(e.Arguments)
	if hex.EncodeToString(sum[:]) != e.ArgumentsSHA256 || !json.Valid(e.Arguments) {
		return nil, unverified
	}
	return e.Arguments, e.ArgumentsSHA256
}

// hint returns the model's best next step after a failure.
func hint(e *tool.Error) string {
	switch e.Kind {
	case tool.KindInvalidArgument:
		return "Correct the call before you try again."
	case tool.KindNotFound:
		return "Use one of the tools that you were offered."
	case tool.KindDenied:
		return "Do not try this again; find another way or tell the user."
	case tool.KindApprovalRequired:
		return "Nobody has approved it; go on without it or tell the user."
	case tool.KindRateLimited:
		if e.RetryAfter > 0 {
			return fmt.Sprintf("Wait %s before you try again, or go on without it.", e.RetryAfter.Round(time.Second))
		}
		return "Go on without it for now."
	case tool.KindTimeout:
		return "It may help to ask for less at once."
	case tool.KindCrashed: // an idempotent tool may have done part of its work, which the message says
		return "You may try again, with other arguments if it crashes again."
	case tool.KindOutcomeUnknown:
		return "It may or may not have taken effect: find out before you try again."
	case tool.KindUnavailable:
		return "Go on without it for now, or try again later."
	}
	return ""
}
