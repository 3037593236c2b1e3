package loop

import "github.com/toolhost/toolhost/tool"

// Summary is what the store knows of a run without reading its journal.
type Summary struct {
	Prompt     string     `json:"prompt"`
	Model      string     `json:"model"`
	StopReason StopReason `json:"stop_reason,omitempty"`
	Turns      int        `json:"turns"`
	Calls      int        `json:"calls"`
	Usage      tool.Usage `json:"usage,omitzero"`
	Cost       float64    `json:"cost,omitempty"`
	Waiting    bool       `json:"waiting,omitempty"`
	Parent     *Parent    `json:"parent,omitempty"`
	Foreground bool       `json:"foreground,omitempty"`
	BaseURL    string     `json:"base_url,omitempty"`
	Principal  string     `json:"principal,omitempty"`
	// Settled is absent in summaries of earlier versions.
	Settled Settlements `json:"settled,omitzero"`
}

// MaxSummaryPrompt is the length of the prompt in a summary, in characters. Every event writes it
// again.
const MaxSummaryPrompt = 200

// Summary returns the run's summary.
func (s *State) Summary() Summary {
	v := Summary{
		Prompt: s.started.Prompt, Model: s.started.Model, Turns: s.budget.turns, Calls: s.budget.calls, Usage: s.budget.usage, Cost: s.budget.cost,
		Waiting: len(s.people.decisions) > 0 || len(s.batch.SubRunDecisions()) > 0, Parent: s.started.Parent, Foreground: s.started.Foreground, BaseURL: s.started.BaseURL, Principal: s.started.Principal,
		Settled: s.settlements,
	}
	if r := []rune(v.Prompt); len(r) > MaxSummaryPrompt {
		v.Prompt = string(r[:MaxSummaryPrompt]) + "…"
	}
	if s.finished != nil {
		v.StopReason = s.finished.StopReason
	}
	return v
}
