package agent

import (
	"context"
	"strings"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/tool"
)

// Decide makes a decision of a run and returns it as it was made. etag is that of the decision that
// the person has seen. If the decision was made before by the same principal with the same request
// id and verdict, Decide returns it. Errors: KindNotFound; KindConflict if the run asks for
// something else than what the person has seen, or another verdict came first; KindInvalidArgument
// if the verdict does not fit. If ctx ends first, the decision may still be made.
func (a *Agent) Decide(ctx context.Context, runID, etag string, made loop.DecisionMade) (Decision, error) {
	if made.RequestID != "" && !IsRunID(made.RequestID) {
		return Decision{}, tool.Errorf(tool.KindInvalidArgument, "the request id %q is ill-formed; use 1 to 64 of A-Z a-z 0-9 _ -", loop.Clip(made.RequestID))
	}
	ref := loop.DecisionRef(runID, made.ID)
	d, err := a.Decision(ctx, runID, made.ID)
	switch {
	case err != nil:
		return Decision{}, err
	case made.Verdict == loop.VerdictExpired:
		return Decision{}, tool.Errorf(tool.KindInvalidArgument, "decision %s cannot be made to expire; reject it", ref)
	case d.Waits && d.Etag() != etag:
		return Decision{}, changed(ref)
	case d.Waits:
		_, refused := a.hand(ctx, runID, &input{payloads: []loop.Payload{&made}, etag: etag})
		if kind := tool.KindOf(refused); refused != nil && kind != tool.KindNotFound && kind != tool.KindConflict {
			return Decision{}, refused
		}
		if d, err = a.Decision(ctx, runID, made.ID); err != nil || refused == nil {
			return d, err
		}
		if d.Waits {
			return Decision{}, refused
		}
	}
	if err := d.Repeats(&made); err != nil {
		return Decision{}, err
	}
	return d, nil
}

// Extend moves the end of a decision of a run and returns the decision. The caller of Extend has
// checked that the principal may extend it. Errors: KindNotFound; KindConflict if the decision was
// made, has ended or has no end; KindInvalidArgument for an end that is not possible. If ctx ends
// first, the end may still move.
func (a *Agent) Extend(ctx context.Context, runID string, e loop.DecisionExtended) (Decision, error) {
	d, err := a.Decision(ctx, runID, e.ID)
	if err != nil {
		return Decision{}, err
	}
	if d.Waits {
		_, refused := a.hand(ctx, runID, &input{payloads: []loop.Payload{&e}})
		if refused == nil {
			return a.Decision(ctx, runID, e.ID)
		}
		if d, err = a.Decision(ctx, runID, e.ID); err != nil || d.Waits {
			return Decision{}, refused
		}
	}
	return Decision{}, d.Repeats(&loop.DecisionMade{}) // no request is a repeat
}

// Repeats returns nil if a verdict about a decision that does not wait is a repeated request of the
// one that decided, and otherwise a KindConflict that says who decided what, and when.
func (d *Decision) Repeats(made *loop.DecisionMade) error {
	ref := loop.DecisionRef(d.Run.ID, d.ID)
	switch {
	case d.Made == nil:
		return tool.Errorf(tool.KindConflict, "nobody decides %s any more: what asked for it has ended", ref)
	case made.RequestID != "" && made.RequestID == d.Made.RequestID && made.Principal == d.Made.Principal && made.SameVerdict(d.Made):
		return nil
	}
	return tool.Errorf(tool.KindConflict, "decision %s was made before: %s", ref, d.outcome())
}

// outcome says who decided what, and when.
func (d *Decision) outcome() string {
	at := d.MadeAt.UTC().Format(time.RFC3339)
	if d.Made.Verdict == loop.VerdictExpired {
		return "nobody decided until " + at + ", which counts as a No"
	}
	words := []string{d.Made.Principal}
	if d.Made.By != "" {
		words = append(words, "("+loop.Clip(d.Made.By)+")")
	}
	words = append(words, "gave the verdict "+string(d.Made.Verdict)+" at", at)
	if d.Made.Text != "" {
		words = append(words, "with the text", "\""+loop.Clip(d.Made.Text)+"\"")
	}
	return strings.Join(words, " ")
}

func changed(ref string) error {
	return tool.Errorf(tool.KindConflict, "decision %s is not what was shown: the call, its arguments or the question differ; look at it again, and decide then", ref)
}
