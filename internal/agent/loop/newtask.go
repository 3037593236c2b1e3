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

// defaultSubRuns is how deep sub-runs may be nested: one that delegates to others is enough for what models are good at.
const DefaultSubRuns = 2

func SubRunsOr(n, fallback int) int {
	if n == 0 {
		return fallback
	}
	return n
}

// newTask is what new_task is asked.
type newTask struct {
	Task  string   `json:"task"`
	Tools []string `json:"tools"`
}

// parseTask returns what a call of new_task asks for, or what is wrong with it, in words for the model.
func (r *RunStarted) parseTask(c *Call) (in newTask, wrong string) {
	if err := json.Unmarshal([]byte(c.Arguments), &in); err != nil || strings.TrimSpace(in.Task) == "" {
		return in, `[invalid_argument] The arguments must be {"task": "…"}, with "tools" as a list of names if only some may be used.`
	}
	if _, ok := r.Tools.narrowed(in.Tools); !ok {
		return in, "[invalid_argument] None of these tools is yours: " + Clip(strings.Join(in.Tools, ", ")) + "."
	}
	return in, ""
}

// SubRunID returns the id of the run that carries out a call: always the same one, so that a run that is resumed finds
// its sub-run again and does not start a second.
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

// subTask returns the task of a call's sub-run: it works in the same session, with the same tools unless the call names
// fewer, knows the run's values, and has an equal share of what is left of its budgets.
func (s *State) SubTask(c *Call) Task {
	in, _ := s.started.parseTask(c) // checked before the call began
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

// subRules returns the rules of a sub-run: those of the run. For a run of an earlier version they follow from the values.
func (r *RunStarted) subRules(values map[string]json.RawMessage) *EffectRules {
	if r.Effects != nil {
		return r.Effects
	}
	return RulesFor(values, nil)
}

// shareLimits returns the limits of a sub-run: those of the run, with what is left of its budgets divided among the
// sub-runs that the last response asked for.
func (b *budget) shareLimits(limits Limits, n int) Limits {
	if limits.MaxTokens > 0 {
		limits.MaxTokens = max(1, (limits.MaxTokens-int64(b.spent.tokens))/int64(n))
	}
	if limits.MaxCost > 0 {
		const next = 1e-9 // nothing, but not 0, which is no bound
		limits.MaxCost = max(next, (limits.MaxCost-b.spent.cost)/float64(n))
	}
	if limits.MaxWallTime > 0 { // they run at the same time
		limits.MaxWallTime = max(time.Nanosecond, limits.MaxWallTime-b.spent.wall)
	}
	return limits
}

// subResult is what a sub-run answers to the call that it was started for.
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
