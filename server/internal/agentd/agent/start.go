package agent

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/tool"
)

// StartRun starts a run and returns its id once the journal has it. If a run with the same id
// exists that began with the same task, StartRun continues it, unless it belongs to another
// process. A run with the same id that began with another task is a KindConflict. Traceparent, and
// what the component sets that accepts the connection, do not distinguish two tasks. The id of a
// run that was deleted is a KindConflict too: what the run has done must not be done again.
func (a *Agent) StartRun(ctx context.Context, task loop.Task) (string, error) {
	started, err := a.begin(&task)
	if err != nil {
		return "", err
	}
	if err := a.admitStart(ctx, started); err != nil {
		return "", err
	}
	started.Statistics = a.statisticsFor(ctx, &task, started)
	taken, err := a.attachToStart(ctx, &task, started)
	if err != nil {
		return "", err
	}
	defer taken.release()
	e := loop.Event{Seq: 1, Time: time.Now(), Payload: started}
	var s loop.State
	if err := s.Apply(e); err != nil {
		return "", tool.Errorf(tool.KindInternal, "starting run %s: %w", started.RunID, err)
	}
	head, err := headFor(&s)
	if err != nil {
		return "", tool.AsError(err)
	}
	rec, err := encode(started, e.Time)
	if err != nil {
		return "", tool.Errorf(tool.KindInvalidArgument, "starting run %s: %w", started.RunID, err)
	}
	err = a.store.Append(ctx, runstore.Batch{
		RunID: started.RunID, Records: []runstore.Record{rec}, Head: head, Contents: taken.contents, Spent: spentOnStart(started),
	})
	if errors.Is(err, runstore.ErrConflict) {
		return started.RunID, a.rejoin(ctx, started)
	}
	if err != nil {
		return "", storeError(err)
	}
	if started.Parent == nil && !started.Foreground && !a.work.mayBegin() {
		a.journal.release(started.RunID, 0) // which the append has taken
		a.config().Engine.Due(started.RunID)
		return started.RunID, nil
	}
	k := runRef{id: started.RunID, last: 1, fresh: true, owner: started.Principal}
	if started.Parent != nil {
		k.parent = started.Parent.RunID
	}
	return started.RunID, a.work.wakeSoon(k)
}

// admitStart returns an error if a quota refuses a new run. A run that exists counts nothing:
// starting it again only continues it. The quotas of its parent apply to a sub-run.
func (a *Agent) admitStart(ctx context.Context, started *loop.RunStarted) error {
	if started.Parent != nil {
		return nil
	}
	if _, err := a.journal.summaryOf(ctx, started.RunID); err == nil {
		return nil
	}
	if err := a.admitWork(ctx, started.Principal); err != nil {
		return err
	}
	return a.starts.admit(started.Principal, &a.config().Quotas, time.Now())
}

// rejoin continues an existing run after it has checked that the run is the one to start.
func (a *Agent) rejoin(ctx context.Context, want *loop.RunStarted) error {
	have, err := a.journal.startOf(ctx, want.RunID)
	if err != nil {
		return err
	}
	if have.Prompt != want.Prompt || !sameAttachments(have.Attachments, want.Attachments) || have.Principal != "" && have.Principal != want.Principal {
		return tool.Errorf(tool.KindConflict, "the run id %q is taken by another run; choose another id", want.RunID)
	}
	if have.Request != want.Request && !bytes.Equal(have.ResponseSchema, want.ResponseSchema) { // the agent's schema may have changed since
		return tool.Errorf(tool.KindConflict, "the run %q exists with another response schema; choose another id", want.RunID)
	}
	if have.Request != "" && have.Request != want.Request {
		return tool.Errorf(tool.KindConflict, "the run %q exists and began with another request: its agent, model, tools, limits or another field differs; choose another id", want.RunID)
	}
	r, err := a.journal.summaryOf(ctx, want.RunID)
	if err != nil || r.Finished() || r.foreign() || r.parks() {
		return err
	}
	if r.Parent == nil && a.work.feedOf(r.ID) == nil && !a.work.mayBegin() {
		if !a.owned(&r) {
			a.due(&r)
		}
		return nil
	}
	if err = a.work.wake(r.ref(), nil); a.journal.shared != nil && elsewhere(err) {
		return nil // another agent works on it
	}
	return err
}

// begin returns the first event of a task's run, or a KindInvalidArgument.
func (a *Agent) begin(task *loop.Task) (*loop.RunStarted, error) {
	if strings.TrimSpace(task.Prompt) == "" {
		return nil, tool.Errorf(tool.KindInvalidArgument, "the prompt is empty; say what the run is to do")
	}
	principal := cmp.Or(task.Principal, a.config().Principal)
	id := InTenant(identity.TenantOf(principal), cmp.Or(task.RunID, NewRunID()))
	if err := checkRunID(identity.TenantOf(principal), id); err != nil {
		return nil, err
	}
	session := cmp.Or(task.Session, id)
	if err := tool.CheckID(session); err != nil {
		return nil, tool.Errorf(tool.KindInvalidArgument, "the session: %w", err)
	}
	if err := loop.CheckContext(task.Context); err != nil {
		return nil, tool.Errorf(tool.KindInvalidArgument, "the run's context: %w", err)
	}
	return a.config().begin(task, id, principal, session)
}
