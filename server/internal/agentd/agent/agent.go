package agent

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/logging/loglevel"
	"github.com/toolhost/toolhost/tool"
)

// Agent works on runs. It owns one goroutine for each run at work. All methods are safe for
// concurrent use. Errors are or wrap *tool.Error.
type Agent struct {
	configs    configs
	store      runstore.Store
	journal    *journal
	work       atWork
	ctx        context.Context // the context of all runs; ends with Close
	cancel     context.CancelFunc
	slots      chan struct{} // one element for each run with a slot
	starts     starts
	statistics statistics
	turns      turns
	lists      toolLists
	loaded     *room // for the contents of model requests in flight
	taking     *room // for the contents that are read to accept prompts and messages
}

// New returns an agent that works on no run yet. The caller must call Close.
func New(cfg Config) (*Agent, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	a := &Agent{
		store: cfg.Store, journal: newJournal(cfg.Store, cfg.Log.With(loglevel.Key, loglevel.Storage)), ctx: ctx, cancel: cancel, slots: make(chan struct{}, cfg.MaxRuns),
		loaded: newRoom(cfg.AttachmentMemory), taking: newRoom(defaultAttachmentMemory),
	}
	a.work = atWork{agent: a, runs: make(map[string]*run), working: make(map[runstore.Query]int), moving: make(map[string]chan struct{})}
	a.configs.current.Store(newConfigured(cfg))
	return a, nil
}

// Close stops all work and waits until it has stopped. Unfinished runs continue when they are
// resumed, and calls in progress continue in toolhost. Close may be called more than once.
func (a *Agent) Close() {
	a.work.mu.Lock()
	a.work.closed = true
	a.work.mu.Unlock()
	a.cancel()
	a.work.group.Wait()
}

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
	return started.RunID, a.work.wakeSoon(runRef{id: started.RunID, last: 1, sub: started.Parent != nil, fresh: true, owner: started.Principal})
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
	if err != nil || r.Finished() || r.foreign() {
		return err
	}
	return a.work.wake(r.ref(), nil)
}

var runIDPattern = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// NewRunID returns a new, unique id for a run.
func NewRunID() string { return "run-" + strings.ToLower(rand.Text()[:16]) }

// IsRunID reports whether id is a valid id for a run. A valid id is safe as a file name.
func IsRunID(id string) bool { return runIDPattern.MatchString(id) }

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

// storeError returns an error of the store as a *tool.Error.
func storeError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, runstore.ErrNotFound):
		return tool.Errorf(tool.KindNotFound, "%w", err)
	case errors.Is(err, runstore.ErrDeleted):
		return tool.Errorf(tool.KindConflict, "%w; choose another id", err)
	case errors.Is(err, runstore.ErrConflict):
		return tool.Errorf(tool.KindConflict, "another agentd works on the run: %w", err)
	case errors.Is(err, runstore.ErrUnavailable):
		return tool.Errorf(tool.KindUnavailable, "%w; try again later", err)
	}
	if e, ok := errors.AsType[*tool.Error](err); ok {
		return e
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return tool.AsError(err)
	}
	return tool.Errorf(tool.KindInternal, "%w", fmt.Errorf("the journal: %w", err))
}
