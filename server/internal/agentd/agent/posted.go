package agent

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/tool"
)

// An input for a run on which another agent works becomes an entry of the run's inbox in the store.
// That agent looks once a second, in one query for all its runs, and admits the entry like an input
// of its own: the append that records it consumes it. The agent that has the caller waits for the
// outcome. If no agent works on the run, the one that wrote the entry takes the run over, also if
// it is parked, unless the engine has an agent do that; the store gives a sub-run only to the agent
// of its parent.

// mail is the input that says that the run has entries.
var mail = &input{}

// posted is the form of an input in an inbox.
type posted struct {
	Payloads []postedPayload `json:"payloads"`
	Etag     string          `json:"etag,omitempty"`
}

type postedPayload struct {
	Type    string          `json:"type"`
	Version int             `json:"version"`
	Data    json.RawMessage `json:"data"`
	// Groups are those of a decision. A journal does not tell none from unknown ones, and the check of
	// the approver does.
	Groups []string `json:"groups"`
}

// refusal is the form of an error in an outcome.
type refusal struct {
	Kind    tool.Kind `json:"kind"`
	Message string    `json:"message"`
}

// entryOf returns the entry for an input. If the caller gave the input an id, the id of the entry
// is the digest of the input. So a repeated request has one entry, whichever agents receive it.
func entryOf(runID string, in *input) (e runstore.Entry, err error) {
	form, repeatable := posted{Etag: in.etag}, in.repeatable()
	for _, p := range in.payloads {
		rec, err := encode(p, time.Time{})
		if err != nil {
			return e, tool.Errorf(tool.KindInvalidArgument, "%w", err)
		}
		item := postedPayload{Type: rec.Type, Version: rec.Version, Data: rec.Data}
		if made, ok := p.(*loop.DecisionMade); ok {
			item.Groups = made.Groups
		}
		form.Payloads = append(form.Payloads, item)
	}
	e.RunID, e.ID, e.Contents = runID, rand.Text(), in.taken.news()
	if e.Data, err = json.Marshal(form); err == nil && repeatable {
		e.ID = digestOf(e.Data)
	}
	return e, err
}

// inputOf returns the input of an entry.
func inputOf(e *runstore.Entry) (*input, error) {
	in := &input{entry: e.ID, reply: make(chan reply, 1)}
	var form posted
	if err := json.Unmarshal(e.Data, &form); err != nil {
		return in, tool.Errorf(tool.KindInternal, "the request cannot be read: %w", err)
	}
	in.etag = form.Etag
	for _, item := range form.Payloads {
		event, err := decode(runstore.Record{Type: item.Type, Version: item.Version, Data: item.Data})
		if err != nil {
			return in, tool.Errorf(tool.KindInternal, "the request cannot be read: %w", err)
		}
		if made, ok := event.Payload.(*loop.DecisionMade); ok {
			made.Groups = item.Groups
		}
		in.payloads = append(in.payloads, event.Payload)
	}
	if len(in.payloads) == 0 {
		return in, tool.Errorf(tool.KindInternal, "the request is empty")
	}
	return in, nil
}

// repeatable reports whether the caller gave an input an id.
func (in *input) repeatable() bool {
	switch p := in.payloads[0].(type) {
	case *loop.UserMessage:
		return p.ID.Text != ""
	case *loop.DecisionMade:
		return p.RequestID != ""
	}
	return false
}

// mayRepeat reports whether an input that may be in the journal already is added once nevertheless.
func (in *input) mayRepeat() bool {
	_, message := in.payloads[0].(*loop.UserMessage)
	return !message || in.repeatable()
}

// post writes an input to the inbox of a run, and waits for the outcome.
func (a *Agent) post(ctx context.Context, r *Run, in *input) (uint64, error) {
	e, err := entryOf(r.ID, in)
	if err != nil {
		return 0, err
	}
	ready := a.config().Engine.Ready()
	owned := ready && a.owned(r) // before a look can find the entry: the engine would not know that the run goes on
	if err := a.journal.shared.Post(ctx, e); err != nil {
		return 0, storeError(err)
	}
	if !owned || !a.owned(r) {
		a.due(r)
	}
	if !ready {
		_, _ = a.Look(a.ctx) // after an error, the next look of any agent finds the entry
	}
	outcome, err := a.awaitOutcome(ctx, e.EntryRef)
	switch {
	case err != nil:
		return 0, err
	case outcome.Refusal != nil:
		var why refusal
		if err := json.Unmarshal(outcome.Refusal, &why); err != nil {
			return 0, tool.Errorf(tool.KindInternal, "run %s refused the request, and its reason cannot be read: %w", r.ID, err)
		}
		return 0, &tool.Error{Kind: why.Kind, Message: why.Message}
	case outcome.Seq == 0:
		return 0, tool.Errorf(tool.KindNotFound, "%w", runstore.NotFound(r.ID))
	}
	return outcome.Seq, nil
}

// rousePause is the pause between two attempts to go on with a run whose entry has no outcome yet.
// It is longer than an agent that has the run takes to look.
const rousePause = 2 * lookPause

// engineRounds is how many rousePauses an engine that is ready has for an entry. Its looks need
// fewer.
const engineRounds = 3

// awaitOutcome returns what became of an entry. The agent that has the run can end before it admits
// the entry, and no look takes a run below one that is parked then. So this agent tries to go on
// with the run as long as the caller waits, unless an engine may do it.
func (a *Agent) awaitOutcome(ctx context.Context, ref runstore.EntryRef) (runstore.Outcome, error) {
	for round := 0; ; round++ {
		if round >= engineRounds || !a.config().Engine.Ready() {
			a.rouseFamily(a.ctx, ref.RunID)
		}
		bounded, cancel := context.WithTimeout(ctx, rousePause)
		outcome, err := a.outcomes.await(bounded, ref, nil)
		cancel()
		if tool.KindOf(err) != tool.KindTimeout || ctx.Err() != nil {
			return outcome, err
		}
	}
}

// rouseFamily goes on with a run that has an entry, and with the unfinished runs above it, unless
// another agent works on one of them, or one has failed here, or was parked and an agent has
// tried it with the entry. The runs above get mail as well, so that they go on without a slot.
func (a *Agent) rouseFamily(ctx context.Context, runID string) {
	var family []runRef
	for id := runID; id != "" && a.work.feedOf(id) == nil; {
		r, err := a.journal.summaryOf(ctx, id)
		if err != nil {
			return
		}
		above := len(family) > 0
		if above && (r.Finished() || r.foreign() || len(family) > maxDepth) {
			break
		}
		if r.stalled > runstore.MaxStalled {
			return
		}
		family = append(family, r.ref())
		id = r.ref().parent
	}
	for _, k := range slices.Backward(family) {
		if a.work.wake(k, mail) != nil {
			return // the agent that has it looks, too
		}
	}
}

// elsewhere reports whether an error says that another agent works on the run, and that nothing was
// written.
func elsewhere(err error) bool {
	return errors.Is(err, runstore.ErrClaimed) || errors.Is(err, runstore.ErrConflict)
}

// collect tells the runs that have entries.
func (a *Agent) collect(ctx context.Context, shared runstore.Sharing) error {
	runs, err := shared.Posted(ctx)
	if err != nil {
		return storeError(err)
	}
	for i := range runs {
		// If another agent has taken the run meanwhile, it looks, too.
		if err := a.work.wake(a.refOf(&runs[i]), mail); err != nil && !elsewhere(err) && !errors.Is(err, errPaused) {
			return err
		}
	}
	return nil
}

// admitPosted admits the entries of the run's inbox.
func (r *run) admitPosted(ctx context.Context) error {
	for {
		entries, err := r.agent.journal.shared.Entries(ctx, r.id)
		if err != nil || len(entries) == 0 {
			return storeError(err)
		}
		for i := range entries {
			in, err := inputOf(&entries[i])
			if err != nil {
				err = r.settle(ctx, in, reply{err: err})
			} else {
				err = r.admitOne(ctx, in)
			}
			if err != nil {
				return err
			}
		}
	}
}

// settle records the outcome of an input that adds no event, if the input has an entry: the Seq of
// an earlier event, or a refusal.
func (r *run) settle(ctx context.Context, in *input, with reply) error {
	if in.entry == "" {
		return nil
	}
	outcome := runstore.Outcome{Seq: with.seq}
	if e := tool.AsError(with.err); e != nil {
		var err error
		if outcome.Refusal, err = json.Marshal(refusal{e.Kind, e.Message}); err != nil {
			return err
		}
	}
	// Like an append, it is not cancelled in the middle.
	return storeError(r.agent.journal.shared.Settle(context.WithoutCancel(ctx), runstore.EntryRef{RunID: r.id, ID: in.entry}, r.epoch, outcome))
}

// outcomePause is the pause between two looks for outcomes, while a caller waits for one.
const outcomePause = 100 * time.Millisecond

// outcomes waits for what becomes of entries.
type outcomes = polled[runstore.EntryRef, runstore.Outcome]
