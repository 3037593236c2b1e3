package loop

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// DefaultSubRuns is the default depth of nested sub-runs. One level that delegates again is enough
// for current models.
const DefaultSubRuns = 2

func SubRunsOr(n, fallback int) int {
	if n == 0 {
		return fallback
	}
	return n
}

// newTask is the arguments of new_task.
type newTask struct {
	Task  string   `json:"task"`
	Tools []string `json:"tools"`
}

// parseTask returns the arguments of a new_task call, or a message for the model that says what is
// wrong with them.
func (r *RunStarted) parseTask(c *Call) (in newTask, wrong string) {
	if err := json.Unmarshal([]byte(c.Arguments), &in); err != nil || strings.TrimSpace(in.Task) == "" {
		return in, `[invalid_argument] The arguments must be {"task": "…"}, with "tools" as a list of names if only some may be used.`
	}
	if _, ok := r.Tools.narrowed(in.Tools); !ok {
		return in, "[invalid_argument] None of these tools is yours: " + Clip(strings.Join(in.Tools, ", ")) + "."
	}
	return in, ""
}

// SubRunID returns the id of the run that carries out a call. The id is always the same, so that a
// resumed run finds its sub-run and does not start a second one.
func SubRunID(runID, callID string) string {
	const most, hashed = 64, 12
	sum := sha256.Sum256([]byte(callID))
	hash := strings.ToLower(base32.StdEncoding.EncodeToString(sum[:]))[:hashed]
	place := strings.ReplaceAll(strings.TrimPrefix(callID, runID+"."), ".", "-")
	tail := "-" + place + "-" + hash
	if len(tail) > most/2 {
		tail = "-" + hash
	}
	return runID[:min(len(runID), most-len(tail))] + tail
}

// SubTask returns the task of a call's sub-run. The sub-run works in the same session and with the
// same tools, unless the call names fewer. It has the run's context and an equal share of the
// remaining budgets.
func (s *State) SubTask(c *Call) Task {
	in, _ := s.started.parseTask(c) // valid, because the call was started
	tools, _ := s.started.Tools.narrowed(in.Tools)
	people := s.started.People
	values, explicit := maps.Clone(s.context), s.started.ExplicitCompletion
	delete(values, KeyTodos)
	return Task{
		Prompt: in.Task, RunID: SubRunID(s.started.RunID, c.ID), SystemPrompt: s.started.SystemPrompt, Session: s.started.Session,
		Tools: tools, Limits: s.shareLimits(s.started.Limits, s.subRuns()), People: &people, Foreground: s.started.Foreground, Context: values, Effects: s.started.subRules(values),
		SystemTools: slices.Concat([]string{}, s.started.SystemTools), ExplicitCompletion: &explicit, Traceparent: s.started.Trace(c.SentID()),
		Parent: &Parent{RunID: s.started.RunID, CallID: c.ID}, Window: s.started.Window, SubRuns: SubRunsOr(s.started.SubRuns-1, -1),
	}
}

// subRules returns the effect rules of a sub-run: those of the run. For a run of an earlier version
// they follow from the context.
func (r *RunStarted) subRules(values map[string]json.RawMessage) *EffectRules {
	if r.Effects != nil {
		return r.Effects
	}
	return RulesFor(values, nil)
}

// shareLimits returns the limits of a sub-run: the run's, with the remaining budgets divided among
// n sub-runs.
func (b *budget) shareLimits(limits Limits, n int) Limits {
	if limits.MaxTokens > 0 {
		limits.MaxTokens = max(1, (limits.MaxTokens-int64(b.spent.tokens))/int64(n))
	}
	if limits.MaxCost > 0 {
		const next = 1e-9 // almost nothing; 0 would mean no limit
		limits.MaxCost = max(next, (limits.MaxCost-b.spent.cost)/float64(n))
	}
	if limits.MaxWallTime > 0 { // sub-runs work at the same time
		limits.MaxWallTime = max(time.Nanosecond, limits.MaxWallTime-b.spent.wall)
	}
	return limits
}

// SubResult returns the result of a call whose sub-run has ended.
func SubResult(c *Call, end *RunFinished) *CallResult {
	text := shorten(end.Text, mostShown)
	r := &CallResult{CallID: c.ID, Tool: c.Tool}
	switch {
	case !end.StopReason.Succeeded():
		words := fmt.Sprintf("[%s] The task was not finished%s", end.StopReason, withReason(end.Message))
		if text != "" {
			words += "\nThe last that was said: " + text
		}
		r.Result = tool.ErrorResult(words)
	case text == "":
		r.Result = tool.TextResult(nothingShown)
	default:
		r.Result = tool.TextResult(text)
	}
	r.Result.Usage, r.Result.Cost = end.Usage, end.Cost
	return r
}
