package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/memoryfile"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/tool"
)

// Config is the configuration of an agent. Store, Model and Tools are required.
type Config struct {
	// Store keeps the runs. The caller closes it after the agent.
	Store runstore.Store
	// Model is the model of runs that name no other one. ModelName is its name in Models, if any.
	Model     model.Model
	ModelName string
	// Models are the models that agents and tasks can name.
	Models map[string]OfferedModel
	// ModelForAll means that Model continues every run, whatever model the run began with.
	ModelForAll bool
	// ModelForLost means that Model continues a run whose first model no configuration has any more.
	// Without it, such a run ends with an error. The operator sets it by naming a model for this
	// process.
	ModelForLost bool
	// BaseURL is the address of the model's API, for the journal. Empty means the provider's own
	// address.
	BaseURL string
	// Tools is the toolhost that carries out calls.
	Tools Tools
	// ListChangedTools is the ListTools of Tools for an agent that keeps the list. known is the
	// revision of the kept list; empty means that the agent has none. ListChangedTools returns no
	// tools if the list still has that revision. Lists for two sessions or contexts are equal if their
	// revisions are. An empty revision means that there is none. A nil function means that the agent
	// lists all tools before each model request.
	ListChangedTools func(ctx context.Context, query tool.Query, known string) (infos []tool.Info, revision string, err error)
	// ToolsKnown returns once Tools knows the tools of all plugins that it found at its start, or when
	// ctx ends. The first request of a run waits for it, for a bounded time. Nil: nothing waits.
	ToolsKnown func(ctx context.Context) error
	// LedgerID returns the id of the ledger of Tools, as last reported, without I/O. The journal
	// stores the id with each call that has side effects. The agent never sends such a call to a
	// toolhost with another ledger. If LedgerID is nil or returns an empty id, only the call's id
	// prevents a second execution.
	LedgerID func() string
	// ReadArtifact reads a part of an artifact of Tools. With it, the agent gives the user a direct
	// result completely, even if the result is too large to show. Nil means that the user gets the
	// shown part.
	ReadArtifact func(ctx context.Context, query tool.ArtifactQuery) (tool.ArtifactPiece, error)
	// ReviewCall decides about a call as Tools does, without executing it. The result and the error
	// are those with which the call would end unexecuted. With it, the decisions of a response are
	// asked together, although its effects keep their order. A nil function, and KindUnsupported, mean
	// that each is asked when its call begins.
	ReviewCall func(ctx context.Context, call tool.Call) (*tool.Result, error)
	// ApproveStanding creates a standing approval in Tools. approver is the key of the principal that
	// approves; empty means the agent's own. A repeated request id returns the same approval. Nil
	// means that decisions offer no standing approvals.
	ApproveStanding func(ctx context.Context, request tool.ApprovalRequest, approver string) (tool.StandingApproval, error)
	// Principal is the key of the principal of the agent itself. Runs whose task names no principal
	// belong to it. Empty: unknown.
	Principal string
	// ActFor returns the context for requests to Tools, Search and ReadArtifact that a run makes for
	// its principal. Nil: the agent makes all requests in its own name.
	ActFor func(ctx context.Context, principal string, groups []string) context.Context
	// SystemPrompt is the system prompt of runs without their own. Empty means a short built-in
	// prompt.
	SystemPrompt string
	// Memory are the memory files of all runs.
	Memory []MemoryFile
	// MaxMemory is the size of the largest memory file of a workspace, in bytes. 0 means
	// memoryfile.DefaultMaxBytes.
	MaxMemory int64
	// Workspace returns the folder of this machine in which the tools of Tools work. An error says why
	// there is none that the agent can read. Nil means that there is none.
	Workspace func() (string, error)
	// Statistics returns statistics of the tools of Tools. Nil: they are not known.
	Statistics func(ctx context.Context, query tool.StatsQuery) ([]tool.Stats, error)
	// ToolStatistics says which statistics the descriptions of tools have.
	ToolStatistics ToolStatistics
	// Limits are the default limits of runs.
	Limits loop.Limits
	// People says whether runs can ask a person, unless the task says otherwise. The zero value
	// means no.
	People loop.People
	// SystemTools are the system tools of runs whose task does not choose. Empty means none.
	SystemTools []string
	// SystemToolPlugins maps a system tool to the plugin whose tool replaces it. Without an entry,
	// a plugin's tool with the name of a system tool is not offered.
	SystemToolPlugins map[string]string
	// ExplicitCompletion is the default of Task.ExplicitCompletion.
	ExplicitCompletion bool
	// Agents are the named agents. DefaultAgent is the agent of runs that name none, except sub-runs.
	// Empty means none.
	Agents       map[string]NamedAgent
	DefaultAgent string
	// TrustCallers says that a run continues the trace that its caller names, with the caller's
	// sampled flag. It also applies without an Observer: toolhost trusts the agent, so the agent
	// must not pass on the flag of a caller that the operator does not trust. The zero value means
	// that each run, except a sub-run, begins a new trace.
	TrustCallers bool
	// Observer receives reports about runs. Nil means that the agent reports nothing, at no cost.
	Observer Observer
	// Notifier says which messages the agent writes to the outbox of Store, which then is a
	// runstore.Outbox. Nil means none.
	Notifier Notifier
	// Search finds tools that a request does not list. Nil means that requests list all tools.
	Search ToolSearch
	// MaxTools is how many tools a request lists by default if there is a Search. 0 means 40.
	MaxTools int
	// SubRuns is the default number of levels of sub-runs below a run. 0 means 2; less than 0 means
	// none.
	SubRuns int
	// Retention says which finished runs Expired returns.
	Retention Retention
	// Window is the default window of runs.
	Window loop.Window
	// Prices has the price of Model. A run with a cost budget needs the prices of all models that it
	// may use.
	Prices model.Prices
	// ModelRetry is the retry policy for model requests. Zero fields mean 5 attempts, from 1 s to
	// 30 s.
	ModelRetry Retry
	// ToolRetry is the retry policy for requests to toolhost. The call id makes a repeated request
	// safe. Zero fields mean 10 attempts, from 200 ms to 10 s.
	ToolRetry Retry
	// MaxRuns is how many runs may work at the same time. Others wait. Sub-runs, and runs that wait
	// only for a person, do not count. 0 means 1000.
	MaxRuns int
	// Engine decides when the agent works on runs that are due. Nil means Local.
	Engine Engine
	// Follow reaches other agents of Store. Nil means that watchers get the passing events of runs
	// only where these are at work.
	Follow Follow
	// AttachmentMemory is how many bytes of attachments the model requests in flight hold. Others
	// wait. 0 means 64 MiB.
	AttachmentMemory int64
	// ModelIdle is how long a model's stream may be silent before the agent treats it as broken. 0
	// means 5 minutes.
	ModelIdle time.Duration
	// CallDeadline is how long the agent waits for a call if toolhost, which has its own deadlines,
	// does not end it. 0 means 15 minutes, which is longer than the longest call that toolhost
	// allows by default.
	CallDeadline time.Duration
	// CancelGrace is how long a cancelled call may take to end. 0 means 10 s.
	CancelGrace time.Duration
	// SnapshotEvery is the number of small events between two snapshots of a run. Snapshots are
	// taken between turns. A run that continues after a restart folds about this many events. 0
	// means 64.
	SnapshotEvery int
	// EffectsAllowed are, by tool, the keys of a run's context that the tool may change although
	// the caller set them at the start. The tool has to declare them as well.
	EffectsAllowed map[string][]string
	// Quotas bound what tenants and principals use.
	Quotas Quotas
	// Log receives warnings and errors. Nil discards them.
	Log *slog.Logger
}

// defaultAttachmentMemory lets three runs with as many attachments as a run may have make a request
// at the same time. An encoded request takes a few times the bytes of its attachments.
const defaultAttachmentMemory = 64 << 20

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
	if err := errors.Join(loop.CheckSystemTools(d.SystemTools), loop.CheckSystemTools(slices.Sorted(maps.Keys(d.SystemToolPlugins))), d.Prices.Check(), d.Window.Check(), d.ToolStatistics.check(), d.checkAgents()); err != nil {
		return d, err
	}
	d.People = d.People.WithDefaults()
	d.Limits = d.Limits.Or(loop.Limits{})
	d.Window = d.Window.Or(loop.Window{})
	d.MaxTools = loop.FirstPositive(d.MaxTools, loop.DefaultMaxTools, 1)
	d.SubRuns = loop.SubRunsOr(d.SubRuns, loop.DefaultSubRuns)
	d.ModelRetry = d.ModelRetry.or(Retry{MaxAttempts: 5, Initial: time.Second, Max: 30 * time.Second})
	d.ToolRetry = d.ToolRetry.or(Retry{MaxAttempts: 10, Initial: 200 * time.Millisecond, Max: 10 * time.Second})
	if d.MaxMemory <= 0 {
		d.MaxMemory = memoryfile.DefaultMaxBytes
	}
	d.MaxRuns = loop.FirstPositive(d.MaxRuns, 1000, 1)
	d.AttachmentMemory = cmp.Or(max(d.AttachmentMemory, 0), defaultAttachmentMemory)
	d.ModelIdle = durationOr(d.ModelIdle, 5*time.Minute)
	d.CallDeadline = durationOr(d.CallDeadline, 15*time.Minute)
	d.CancelGrace = durationOr(d.CancelGrace, 10*time.Second)
	d.SnapshotEvery = loop.FirstPositive(d.SnapshotEvery, defaultSnapshotEvery, 1)
	if d.Engine == nil {
		d.Engine = Local{}
	}
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	return d, nil
}

// checkAgents returns an error if an agent names a model, an agent or a system tool that does not
// exist.
func (c *Config) checkAgents() error {
	if _, ok := c.Agents[c.DefaultAgent]; c.DefaultAgent != "" && !ok {
		return fmt.Errorf("the default agent %q does not exist", c.DefaultAgent)
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(c.Agents)) {
		a := c.Agents[name]
		errs = append(errs, loop.CheckSystemTools(a.SystemTools), a.Sampling.Check(), a.ToolStatistics.check())
		if _, err := CheckResponseSchema(a.ResponseSchema); err != nil {
			errs = append(errs, fmt.Errorf("the agent %s: %w", name, err))
		}
		for _, m := range a.Models {
			if _, ok := c.Models[m]; !ok && m != "" && m != c.Model.Name() {
				errs = append(errs, fmt.Errorf("the agent %s has the model %q, which does not exist", name, m))
			}
		}
		for _, d := range a.Delegates {
			if _, ok := c.Agents[d]; !ok {
				errs = append(errs, fmt.Errorf("the agent %s delegates to %q, which does not exist", name, d))
			}
		}
	}
	return errors.Join(errs...)
}
