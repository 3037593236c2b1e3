package agent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

// NamedAgent is an agent that the operator has defined: what a run has whose task names it. Zero
// fields mean the defaults of Config.
type NamedAgent struct {
	Description  string // for models that may delegate to the agent
	Instructions *Instructions
	Memory       []MemoryFile // in addition to Config.Memory
	// ToolStatistics replaces that of Config.
	ToolStatistics ToolStatistics
	// Models are names in Config.Models. The first one gets each request, and the others are its
	// fallbacks, in order. An empty name, and no names, mean the default model.
	Models   []string
	Sampling model.Sampling
	Tools    loop.ToolChoice
	// SystemTools are the system tools. Nil means those of Config.
	SystemTools        []string
	Limits             loop.Limits
	SubRuns            int      // as Config.SubRuns
	Delegates          []string // names of the agents to which it may delegate
	ExplicitCompletion *bool
	// ResponseSchema is the JSON Schema of the answers of all runs of the agent, sub-runs included, of
	// type object. Empty: the answer is text, unless the task has a schema.
	ResponseSchema json.RawMessage
}

// OfferedModel is a model that runs can name.
type OfferedModel struct {
	// Model is nil if the model cannot be used here. Problem then says why.
	Model   model.Model
	Problem error
	// BaseURL is the address of the model's API, for the journal; see Config.BaseURL.
	BaseURL string
	// Window is the size of the model's window in tokens. 0 means that of Config.Window.
	Window int64
	// Price is the price of the model's tokens. Nil means that it is unknown.
	Price *model.Price
}

func (m *OfferedModel) key() modelKey { return modelKey{m.Model.Name(), m.BaseURL} }

// cost returns the cost of tokens of the model, or 0 if the price is unknown.
func (m *OfferedModel) cost(u tool.Usage) float64 {
	if m == nil || m.Price == nil {
		return 0
	}
	return m.Price.Cost(u)
}

// modelKey identifies a model and the address of its API.
type modelKey struct{ name, baseURL string }

func keyOf(m loop.RunModel) modelKey { return modelKey{m.Model, m.BaseURL} }

// MemoryFile is a text that runs have in their instructions, such as AGENTS.md.
type MemoryFile struct {
	// Name is the name of the file; for a file of the workspace, its path there.
	Name string
	// Workspace means that each run reads the file from the workspace when it starts. Its text is data
	// for the model, because tools can write it.
	Workspace bool
	// Text is the text of a file of the operator.
	Text string
}

// ToolStatistics says whose calls the statistics count that the descriptions of tools have. Empty
// means the setting of Config for an agent, and StatisticsNone for Config.
type ToolStatistics string

// The values of ToolStatistics.
const (
	StatisticsNone   ToolStatistics = "none"   // no statistics
	StatisticsTenant ToolStatistics = "tenant" // the calls of the tenant of the run
	StatisticsAll    ToolStatistics = "all"    // the calls of all tenants
)

func (s ToolStatistics) check() error {
	switch s {
	case "", StatisticsNone, StatisticsTenant, StatisticsAll:
		return nil
	}
	return fmt.Errorf("the tool statistics %q are none of none, tenant and all", s)
}

// Quotas are the quotas of all tenants and principals. The zero value bounds nothing. A full quota
// refuses only its own tenant or principal.
type Quotas struct {
	Tenant, Principal Quota            // of each one
	Tenants           map[string]Quota // of single tenants by name; their fields have precedence
	Principals        map[string]Quota // of single principals by key; their fields have precedence
}

// Quota bounds what the runs of a tenant or a principal use. A field that is 0 bounds nothing.
type Quota struct {
	Runs            int     // runs at work, without sub-runs and runs that wait only for a person
	StartsPerMinute int     // runs that are started in any 60 seconds, without sub-runs
	TokensPerDay    int64   // input and output tokens of models and tools, per day in UTC
	CostPerDay      float64 // in the currency of the price table, per day in UTC
	// AttachedPerDay are bytes of attachments of prompts and messages, per day in UTC. The copies that
	// sub-runs get count too, because the store has them.
	AttachedPerDay int64
}

func (q Quota) or(d Quota) Quota {
	return Quota{
		Runs: cmp.Or(q.Runs, d.Runs), StartsPerMinute: cmp.Or(q.StartsPerMinute, d.StartsPerMinute),
		TokensPerDay: cmp.Or(q.TokensPerDay, d.TokensPerDay), CostPerDay: cmp.Or(q.CostPerDay, d.CostPerDay),
		AttachedPerDay: cmp.Or(q.AttachedPerDay, d.AttachedPerDay),
	}
}

// Retention says which finished runs stay. A run counts with its sub-runs. The zero value keeps
// all.
type Retention struct {
	// Keep is how long a run stays after the last event of it and its sub-runs. 0: for ever.
	Keep time.Duration
	// MaxCount is how many finished runs stay, those that were started last. 0: any number.
	MaxCount int
}
