package agent

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/toolhost/toolhost/internal/runstore"
	"github.com/toolhost/toolhost/tool"
)

// Agent works on runs: each that is at work has one goroutine, which the agent owns. All methods may be called from
// any goroutine. Errors are or wrap *tool.Error.
type Agent struct {
	Config
	store  runstore.Store
	ctx    context.Context // of all runs; ends with Close
	cancel context.CancelFunc
	group  sync.WaitGroup // the runs' goroutines

	mu     sync.Mutex
	closed bool
	runs   map[string]*run // at work
}

// Task is what a run is to do. Only Prompt must be set.
type Task struct {
	Prompt       string
	RunID        string // 1 to 64 of A-Z a-z 0-9 _ -; empty: the agent makes one
	SystemPrompt string // empty: the agent's
	Session      string // in which tools are called; empty: the run's id
	Tools        ToolChoice
	Limits       Limits // 0: the agent's
	Foreground   bool   // the run belongs to this process: Resume leaves it alone
}

// New returns an agent that is not at work on anything. Close must be called.
func New(cfg Config) (*Agent, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	return &Agent{Config: cfg, store: cfg.Store, ctx: ctx, cancel: cancel, runs: make(map[string]*run)}, nil
}

// Close stops working: runs that are not finished stay as their journals say and go on when they are resumed, and
// calls under way go on in toolhost. It waits until all is still, and may be called more than once.
func (a *Agent) Close() {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	a.cancel()
	a.group.Wait()
}

// StartRun begins a run and returns its id as soon as the journal has it. The same id with the same prompt is the run
// that exists, which goes on if it was interrupted; with another prompt it is a KindConflict.
func (a *Agent) StartRun(ctx context.Context, task Task) (string, error) {
	started, err := a.begin(&task)
	if err != nil {
		return "", err
	}
	e := Event{Seq: 1, Time: time.Now(), Payload: started}
	var s State
	if err := s.Apply(e); err != nil {
		return "", tool.Errorf(tool.KindInternal, "starting run %s: %w", started.RunID, err)
	}
	head, err := s.head()
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
	return started.RunID, a.wake(started.RunID, nil)
}

// rejoin checks that the run that exists is the one that was to be started.
func (a *Agent) rejoin(ctx context.Context, want *RunStarted) error {
	have, err := a.startOf(ctx, want.RunID)
	if err != nil {
		return err
	}
	if have.Prompt != want.Prompt {
		return tool.Errorf(tool.KindConflict, "the run id %q is taken by a run with another prompt; choose another id", want.RunID)
	}
	return a.ResumeRun(ctx, want.RunID)
}

var runIDPattern = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// begin returns a task's first event, or a KindInvalidArgument.
func (a *Agent) begin(task *Task) (*RunStarted, error) {
	if strings.TrimSpace(task.Prompt) == "" {
		return nil, tool.Errorf(tool.KindInvalidArgument, "the prompt is empty; say what the run is to do")
	}
	id := task.RunID
	if id == "" {
		id = "run-" + strings.ToLower(rand.Text()[:16])
	}
	if !runIDPattern.MatchString(id) {
		return nil, tool.Errorf(tool.KindInvalidArgument, "the run id %q is ill-formed; use 1 to 64 of A-Z a-z 0-9 _ -", clip(id))
	}
	session := firstOf(task.Session, id)
	if err := tool.CheckID(session); err != nil {
		return nil, tool.Errorf(tool.KindInvalidArgument, "the session: %w", err)
	}
	return &RunStarted{
		RunID: id, Prompt: task.Prompt, Model: a.Model.Name(), Session: session, Tools: task.Tools, Foreground: task.Foreground,
		SystemPrompt: firstOf(task.SystemPrompt, a.SystemPrompt), Limits: task.Limits.or(a.Limits),
	}, nil
}

// SendMessage adds a user's message and returns its place in the journal. A finished run goes on with it; a run at
// work reads it before the model's next turn. Where ctx ends first, the message may still be added.
func (a *Agent) SendMessage(ctx context.Context, runID, text string) (uint64, error) {
	if strings.TrimSpace(text) == "" {
		return 0, tool.Errorf(tool.KindInvalidArgument, "the message is empty")
	}
	return a.tell(ctx, runID, &UserMessage{Text: text})
}

// CancelRun asks a run to stop: its calls are cancelled, each still gets its result, and the run finishes with
// StopCancelled; WatchRun shows when. A finished run stays as it is.
func (a *Agent) CancelRun(ctx context.Context, runID, reason string) error {
	_, err := a.tell(ctx, runID, &CancelRequested{Reason: reason})
	return err
}

// tell hands a payload to the run's goroutine and waits until it is in the journal.
func (a *Agent) tell(ctx context.Context, runID string, p Payload) (uint64, error) {
	r, err := a.GetRun(ctx, runID)
	if err != nil {
		return 0, err
	}
	if p.Type() == TypeCancelRequested && r.Finished() && a.feedOf(runID) == nil {
		return r.LastSeq, nil
	}
	in := &input{payload: p, reply: make(chan reply, 1)}
	if err := a.wake(runID, in); err != nil {
		return 0, err
	}
	select {
	case answer := <-in.reply:
		return answer.seq, answer.err
	case <-ctx.Done():
		return 0, tool.AsError(ctx.Err())
	}
}

// Resume continues all runs that were interrupted, except those that belong to another process (Task.Foreground), and
// returns how many these are.
func (a *Agent) Resume(ctx context.Context) (int, error) {
	query, n := runstore.Query{UnfinishedOnly: true}, 0
	for {
		page, err := a.store.List(ctx, query)
		if err != nil {
			return n, storeError(err)
		}
		for i := range page {
			if err := a.wake(page[i].ID, nil); err != nil {
				return n, err
			}
			n++
		}
		if len(page) < query.PageSize() {
			return n, nil
		}
		query.Before = page[len(page)-1].ID
	}
}

// ResumeRun continues one run that was interrupted, whoever began it. A run that is finished or at work stays as it
// is. Nothing else must be at work on it: whoever appends second has to leave it.
func (a *Agent) ResumeRun(ctx context.Context, runID string) error {
	r, err := a.GetRun(ctx, runID)
	if err != nil || r.Finished() {
		return err
	}
	return a.wake(runID, nil)
}

// wake puts a run to work and hands it an input, which may be nil.
func (a *Agent) wake(runID string, in *input) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return errClosed()
	}
	r := a.runs[runID]
	if r == nil {
		r = newRun(a, runID)
		a.runs[runID] = r
		a.group.Go(func() { r.work(a.ctx) })
	}
	if in != nil {
		r.inbox = append(r.inbox, in)
		select {
		case r.woken <- struct{}{}:
		default:
		}
	}
	return nil
}

// take returns what was handed to a run. Where last is set and there is nothing, the run is not at work any more.
func (a *Agent) take(r *run, last bool) (inputs []*input, left bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	inputs, r.inbox = r.inbox, nil
	if last && len(inputs) == 0 {
		a.forget(r)
		return nil, true
	}
	return inputs, false
}

// drop says that a run is not at work any more, whatever is in its inbox.
func (a *Agent) drop(r *run) []*input {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.forget(r)
	inputs := r.inbox
	r.inbox = nil
	return inputs
}

func (a *Agent) forget(r *run) {
	if a.runs[r.id] == r {
		delete(a.runs, r.id)
	}
}

func (a *Agent) feedOf(runID string) *feed {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r := a.runs[runID]; r != nil {
		return &r.feed
	}
	return nil
}

func errClosed() error {
	return tool.Errorf(tool.KindUnavailable, "the agent is shutting down; the run goes on when it is back")
}

// storeError returns a store's error as one of the agent's.
func storeError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, runstore.ErrNotFound):
		return tool.Errorf(tool.KindNotFound, "%w", err)
	case errors.Is(err, runstore.ErrConflict):
		return tool.Errorf(tool.KindConflict, "somebody else is at work on the run: %w", err)
	}
	if e, ok := errors.AsType[*tool.Error](err); ok {
		return e
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return tool.AsError(err)
	}
	return tool.Errorf(tool.KindInternal, "%w", fmt.Errorf("the journal: %w", err))
}
