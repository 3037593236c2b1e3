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
	Agent string   `json:"agent"`
	Tools []string `json:"tools"`
	// Attachments are the names of attachments of the run that the sub-run gets.
	Attachments []string `json:"attachments"`
}

// parseTask returns the arguments of a new_task call, or a message for the model that says what is
// wrong with them.
func (r *RunStarted) parseTask(c *Call) (in newTask, wrong string) {
	if err := json.Unmarshal([]byte(c.Arguments), &in); err != nil || strings.TrimSpace(in.Task) == "" {
		return in, `[invalid_argument] The arguments must be {"task": "…"}, with "tools" as a list of names if only some may be used.`
	}
	if wrong := r.checkDelegate(in.Agent); wrong != "" {
		return in, "[invalid_argument] " + wrong
	}
	if in.Agent != "" {
		return in, "" // the agent's own tools decide
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
	tenant := strings.LastIndex(runID, refSeparator) + 1 // the sub-run has the run's tenant
	room := min(most, MaxRunID-tenant) - len(tail)
	return runID[:min(len(runID), tenant+room)] + tail
}

// MaxRunID is the length of the longest run id, with its tenant. The ids of calls begin with that
// of their run, and toolhost takes call ids of 128 characters.
const MaxRunID = 104

// SubTask returns the task of a call's sub-run. The sub-run works in the same session. It has the
// run's context and an equal share of the remaining budgets.
//
// A sub-run of a named agent has the instructions, the models, the tools and the limits of that
// agent, and the limits of the task only bound its budgets. Any other sub-run has those of the run,
// with fewer tools if the call names some. What the caller of the first run excluded or did not
// name applies to both.
func (s *State) SubTask(c *Call) Task {
	in, _ := s.started.parseTask(c) // valid, because the call was started
	task := s.subTask(c, &in)
	if in.Agent != "" {
		task.Agent, task.Confined, task.Tools = in.Agent, true, ToolChoice{Names: in.Tools}
		task.Window = Window{} // that of the agent's model
		return task
	}
	explicit := s.started.ExplicitCompletion
	task.Like, task.SystemPrompt, task.ExplicitCompletion = &s.started, s.started.SystemPrompt, &explicit
	task.Tools, _ = s.started.Tools.narrowed(in.Tools)
	task.SystemTools = slices.Concat([]string{}, s.started.SystemTools)
	return task
}

// subTask returns what the tasks of all sub-runs have.
func (s *State) subTask(c *Call, in *newTask) Task {
	people := s.started.People
	files, _ := s.conversation.passOn(in.Attachments)
	values, variables := maps.Clone(s.values.context), s.started.Variables
	delete(values, KeyTodos)
	if variables == nil {
		variables = s.started.Context
	}
	return Task{
		Attachments: files,
		Prompt:      in.Task, RunID: SubRunID(s.started.RunID, c.ID), Session: s.started.Session, Variables: variables,
		Limits: s.budget.shareLimits(s.started.Limits, s.batch.subRuns()), People: &people, Foreground: s.started.Foreground, Context: values, Effects: s.started.subRules(values),
		Traceparent: s.started.Trace(c.SentID()), Parent: &Parent{RunID: s.started.RunID, CallID: c.ID}, Ledger: s.ledger, Window: s.started.Window, Restricted: s.started.Restricted, SubRuns: SubRunsOr(s.started.SubRuns-1, -1),
		RestrictedSystem: s.started.RestrictedSystem, Principal: s.started.Principal, Groups: s.started.Groups,
	}
}

// subRules returns the effect rules of a sub-run, which are those of the run. A run of an earlier
// version has none; its rules follow from the context.
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
	case end.StopReason.Succeeded() && len(end.Result) > 0: // the whole answer, because a part of JSON is none
		r.Result = tool.Result{Content: []tool.Content{tool.JSON(end.Result)}}
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
