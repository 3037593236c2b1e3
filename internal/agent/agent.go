package agent

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/toolhost/toolhost/internal/agent/loop"
	"github.com/toolhost/toolhost/internal/agent/runstore"
	"github.com/toolhost/toolhost/tool"
)

// Agent works on runs. It owns one goroutine for each run at work. All methods are safe for
// concurrent use. Errors are or wrap *tool.Error.
type Agent struct {
	config  Config
	store   runstore.Store
	journal *journal
	tools   *toolFilter
	ctx     context.Context // the context of all runs; ends with Close
	cancel  context.CancelFunc
	group   sync.WaitGroup // the runs' goroutines
	slots   chan struct{}  // one element for each run with a slot

	mu     sync.Mutex
	closed bool
	runs   map[string]*run // at work
}

// New returns an agent that works on no run yet. The caller must call Close.
func New(cfg Config) (*Agent, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	return &Agent{
		config: cfg, store: cfg.Store, journal: newJournal(cfg.Store, cfg.Log), tools: newToolFilter(&cfg), ctx: ctx, cancel: cancel, slots: make(chan struct{}, cfg.MaxRuns), runs: make(map[string]*run),
	}, nil
}

// Close stops all work and waits until it has stopped. Unfinished runs continue when they are
// resumed, and calls in progress continue in toolhost. Close may be called more than once.
func (a *Agent) Close() {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	a.cancel()
	a.group.Wait()
}

// StartRun starts a run and returns its id once the journal has it. If a run with the same id and
// prompt exists, StartRun continues it, unless it belongs to another process. A run with the same
// id and another prompt is a KindConflict.
func (a *Agent) StartRun(ctx context.Context, task loop.Task) (string, error) {
	started, err := a.begin(&task)
	if err != nil {
		return "", err
	}
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
	err = a.store.Append(ctx, runstore.Batch{RunID: started.RunID, Records: []runstore.Record{rec}, Head: head})
	if errors.Is(err, runstore.ErrConflict) {
		return started.RunID, a.rejoin(ctx, started)
	}
	if err != nil {
		return "", storeError(err)
	}
	return started.RunID, a.wake(runRef{id: started.RunID, last: 1, sub: started.Parent != nil, fresh: true}, nil)
}

// rejoin continues an existing run after it has checked that the run is the one to start.
func (a *Agent) rejoin(ctx context.Context, want *loop.RunStarted) error {
	have, err := a.journal.startOf(ctx, want.RunID)
	if err != nil {
		return err
	}
	if have.Prompt != want.Prompt {
		return tool.Errorf(tool.KindConflict, "the run id %q is taken by a run with another prompt; choose another id", want.RunID)
	}
	r, err := a.journal.summaryOf(ctx, want.RunID)
	if err != nil || r.Finished() || r.foreign() {
		return err
	}
	return a.wake(r.ref(), nil)
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
	id := task.RunID
	if id == "" {
		id = NewRunID()
	}
	if !IsRunID(id) {
		return nil, tool.Errorf(tool.KindInvalidArgument, "the run id %q is ill-formed; use 1 to 64 of A-Z a-z 0-9 _ -", loop.Clip(id))
	}
	session := cmp.Or(task.Session, id)
	if err := tool.CheckID(session); err != nil {
		return nil, tool.Errorf(tool.KindInvalidArgument, "the session: %w", err)
	}
	if err := loop.CheckContext(task.Context); err != nil {
		return nil, tool.Errorf(tool.KindInvalidArgument, "the run's context: %w", err)
	}
	limits := task.Limits.Or(a.config.Limits)
	if _, known := a.config.Prices.Cost(a.config.Model.Name(), tool.Usage{}); limits.MaxCost > 0 && !known {
		return nil, tool.Errorf(tool.KindInvalidArgument, "the run has a cost budget, but the price of %s is not configured; set models.NAME.price in agentd.yaml", a.config.Model.Name())
	}
	people, system := a.config.People, a.config.SystemTools
	if task.People != nil {
		people = task.People.WithDefaults()
	}
	if task.SystemTools != nil {
		system = task.SystemTools
	}
	if err := loop.CheckSystemTools(system); err != nil {
		return nil, tool.Errorf(tool.KindInvalidArgument, "%w", err)
	}
	choice, err := a.choice(task)
	if err != nil {
		return nil, err
	}
	if err := task.Window.Check(); err != nil {
		return nil, tool.Errorf(tool.KindInvalidArgument, "%w", err)
	}
	effects := task.Effects
	if effects == nil {
		effects = loop.RulesFor(task.Context, a.config.EffectsAllowed)
	}
	return &loop.RunStarted{
		Effects: effects,
		People:  people, Context: task.Context, SystemTools: system, ExplicitCompletion: a.explicit(task), Parent: task.Parent, Kind: task.Kind,
		RunID: id, Prompt: task.Prompt, Model: a.config.Model.Name(), BaseURL: a.config.BaseURL, Session: session, Tools: choice, Foreground: task.Foreground,
		SystemPrompt: cmp.Or(task.SystemPrompt, a.config.SystemPrompt), Limits: limits,
		Traceparent: traceOf(task.Traceparent),
		Window:      task.Window.Or(a.config.Window), SubRuns: max(0, loop.SubRunsOr(task.SubRuns, a.config.SubRuns)),
	}, nil
}

// explicit reports whether the run succeeds only with a call of attempt_completion.
func (a *Agent) explicit(task *loop.Task) bool {
	if task.ExplicitCompletion != nil {
		return *task.ExplicitCompletion
	}
	return a.config.ExplicitCompletion
}

// choice returns a task's choice of tools with the defaults filled in.
func (a *Agent) choice(task *loop.Task) (loop.ToolChoice, error) {
	kind, err := a.kindOf(task.Kind)
	c := task.Tools.Over(kind)
	switch {
	case err != nil:
		return c, err
	case c.MaxTools < 0:
		return c, tool.Errorf(tool.KindInvalidArgument, "the run may be told of %d tools; use 0 or more", c.MaxTools)
	case a.config.Search == nil && c.MaxTools > 0:
		return c, tool.Errorf(tool.KindInvalidArgument, "the run is limited to %d tools, but no model can search for the others", c.MaxTools)
	case a.config.Search != nil:
		c.MaxTools = loop.FirstPositive(c.MaxTools, a.config.MaxTools, 0)
		if most := a.tools.maxTools(); most > 0 {
			c.MaxTools = min(c.MaxTools, most)
		}
	}
	return c, nil
}

// storeError returns an error of the store as a *tool.Error.
func storeError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, runstore.ErrNotFound):
		return tool.Errorf(tool.KindNotFound, "%w", err)
	case errors.Is(err, runstore.ErrConflict):
		return tool.Errorf(tool.KindConflict, "another agentd works on the run: %w", err)
	}
	if e, ok := errors.AsType[*tool.Error](err); ok {
		return e
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return tool.AsError(err)
	}
	return tool.Errorf(tool.KindInternal, "%w", fmt.Errorf("the journal: %w", err))
}
