package agent

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/toolhost/toolhost/internal/agent/loop"
	"github.com/toolhost/toolhost/internal/agent/runstore"
	"github.com/toolhost/toolhost/internal/model"
	"github.com/toolhost/toolhost/tool"
)

// Tools is what an agent knows of a toolhost. Package client has one. It is safe for concurrent use.
type Tools interface {
	// ListTools returns the tools that match, also those that cannot be called now.
	ListTools(ctx context.Context, query tool.Query) ([]tool.Info, error)
	// Open begins a call, or joins it if its id is known. complete says that the arguments are whole. ctx bounds
	// opening and the execution's events; a call with an id goes on when ctx ends. An error means that nothing was
	// begun by this Open.
	Open(ctx context.Context, call tool.Call, complete bool) (tool.Execution, error)
	// CancelCall asks to stop a call by its id and does not wait until it has ended. One that has ended stays as it is;
	// KindNotFound says that the call is not known.
	CancelCall(ctx context.Context, key tool.CallKey, reason string) error
	// WatchCall yields the events of a call that is known, up to its end, without ever beginning one.
	WatchCall(ctx context.Context, key tool.CallKey, after uint64) iter.Seq2[tool.Event, error]
}

// Config says what an agent works with. The first three fields must be set.
type Config struct {
	// Store keeps the runs. The agent does not close it.
	Store runstore.Store
	// Model answers in all runs.
	Model model.Model
	// BaseURL is where the model's API is reached, for the journal. Empty: the provider's own address.
	BaseURL string
	// Tools are called.
	Tools Tools
	// LedgerID returns the id of the ledger of the toolhost that Tools are, as it was last heard, and does no I/O. The journal
	// keeps it with each call that has side effects, and such a call is never sent to a toolhost with another ledger. Nil, or
	// empty: it is not known, and the call's id alone keeps it from being executed twice.
	LedgerID func() string
	// ReadArtifact reads a part of an artifact of a call that Tools made. The agent reads a direct result with it that is too
	// large to be shown, so that the user gets the whole. Nil: the user gets what is shown.
	ReadArtifact func(ctx context.Context, query tool.ArtifactQuery) (tool.ArtifactPiece, error)
	// SystemPrompt is for runs that bring none. Empty means a short one of the agent's own.
	SystemPrompt string
	// Limits are for runs that bring none; see Limits for their defaults.
	Limits loop.Limits
	// People says whether somebody can be asked, in runs that do not say themselves. The zero value: nobody.
	People loop.People
	// SystemTools are the agent's own tools that the model is offered in runs that do not choose themselves. Empty: none.
	SystemTools []string
	// SystemToolPlugins are the plugins whose tools replace the agent's own, by the names of the tools. A plugin's tool with the
	// name of a system tool is not offered otherwise. Empty: none.
	SystemToolPlugins map[string]string
	// ExplicitCompletion says how runs end that do not say themselves; see Task.
	ExplicitCompletion bool
	// Kinds are the tools of kinds of tasks, by the names that tasks have for them.
	Kinds map[string]loop.ToolChoice
	// Search finds tools that the model was not told of. Nil: the model is always told of all.
	Search ToolSearch
	// MaxTools is how many tools the model is told of at a time, in runs that do not say themselves, if there is a
	// Search. 0 means 40.
	MaxTools int
	// SubRuns is how many levels of sub-runs there may be below a run that does not say itself. 0 means 2; less: none.
	SubRuns int
	// Window says how much the model can read, and when conversations are made smaller, in runs that do not say
	// themselves; see Window for the defaults.
	Window loop.Window
	// Prices are what tokens cost. A run with a cost budget needs the price of the agent's model.
	Prices model.Prices
	// ModelRetry says how a model is asked again. Zero fields mean 5 attempts, from 1 s to 30 s.
	ModelRetry Retry
	// ToolRetry says how toolhost is asked again when it does not answer: the call id makes that safe. Zero fields mean
	// 10 attempts, from 200 ms to 10 s.
	ToolRetry Retry
	// MaxRuns is how many runs may be at work at the same time; those beyond it wait for their turn. Sub-runs, and runs
	// that wait for nothing but a person, do not count. 0 means 1000.
	MaxRuns int
	// ModelIdle is how long a model's stream may say nothing before it counts as broken. 0 means 5 minutes.
	ModelIdle time.Duration
	// CallDeadline is after which time a call is given up although toolhost, which has deadlines of its own, says
	// nothing. 0 means 15 minutes: more than the longest call that toolhost allows by default.
	CallDeadline time.Duration
	// CancelGrace is how long a cancelled call may take to end. 0 means 10 s.
	CancelGrace time.Duration
	// SnapshotEvery is after how many events, or as many as take as long to read, a run's state is kept as a snapshot, between
	// two turns: so many are folded anew when the run goes on after a restart. 0 means 64.
	SnapshotEvery int
	// EffectsAllowed are, by tool, the keys of a run's context that the tool's effects may change although they were set when the
	// run started. The tool has to declare them as well.
	EffectsAllowed map[string][]string
	// Log is where the agent says what went wrong. Nil means nowhere.
	Log *slog.Logger
}

const defaultSystemPrompt = "You are a helpful agent. Use the tools where they help, rely on what they return rather " +
	"than on guesses, and say plainly what could not be done."

func (c *Config) withDefaults() (Config, error) {
	d := *c
	if d.Store == nil || d.Model == nil || d.Tools == nil {
		return d, errors.New("an agent needs a store, a model and tools")
	}
	if d.LedgerID == nil {
		d.LedgerID = func() string { return "" }
	}
	if d.SystemPrompt == "" {
		d.SystemPrompt = defaultSystemPrompt
	}
	if err := errors.Join(loop.CheckSystemTools(d.SystemTools), loop.CheckSystemTools(slices.Sorted(maps.Keys(d.SystemToolPlugins))), d.Prices.Check(), d.Window.Check()); err != nil {
		return d, err
	}
	d.People = d.People.WithDefaults()
	d.Limits = d.Limits.Or(loop.Limits{})
	d.Window = d.Window.Or(loop.Window{})
	d.MaxTools = loop.FirstPositive(d.MaxTools, loop.DefaultMaxTools, 1)
	d.SubRuns = loop.SubRunsOr(d.SubRuns, loop.DefaultSubRuns)
	d.ModelRetry = d.ModelRetry.or(Retry{MaxAttempts: 5, Initial: time.Second, Max: 30 * time.Second})
	d.ToolRetry = d.ToolRetry.or(Retry{MaxAttempts: 10, Initial: 200 * time.Millisecond, Max: 10 * time.Second})
	d.MaxRuns = loop.FirstPositive(d.MaxRuns, 1000, 1)
	d.ModelIdle = durationOr(d.ModelIdle, 5*time.Minute)
	d.CallDeadline = durationOr(d.CallDeadline, 15*time.Minute)
	d.CancelGrace = durationOr(d.CancelGrace, 10*time.Second)
	d.SnapshotEvery = loop.FirstPositive(d.SnapshotEvery, defaultSnapshotEvery, 1)
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	return d, nil
}

func durationOr(d, fallback time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return fallback
}

// Retry says how often and after which pauses something is tried.
type Retry struct {
	MaxAttempts int           // tries in all
	Initial     time.Duration // the longest first pause; it doubles with each try
	Max         time.Duration // the longest pause
}

// maxRetryAfter bounds how long the other side's own wish to wait is honoured: a run that seems dead for longer is
// better ended with an error that says why.
const maxRetryAfter = 60 * time.Second

func (r Retry) or(d Retry) Retry {
	return Retry{
		MaxAttempts: loop.FirstPositive(r.MaxAttempts, d.MaxAttempts, 1),
		Initial:     durationOr(r.Initial, d.Initial),
		Max:         durationOr(r.Max, d.Max),
	}
}

// pause returns how long to wait after a failed attempt, from 1: anything up to the exponential bound (full jitter, so
// that many runs that failed together do not come back together), but no less than the other side asks for.
func (r Retry) pause(attempt int, retryAfter time.Duration) time.Duration {
	bound := r.Max
	if shift := attempt - 1; shift < 20 {
		bound = min(bound, r.Initial<<shift)
	}
	return max(rand.N(bound+1), min(retryAfter, maxRetryAfter))
}

// sleep waits, or returns ctx's error.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
