package loop

import (
	"fmt"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// spent is what a run has used since it started or restarted.
type spent struct {
	turns, calls int
	tokens       uint64
	cost         float64
	wall         time.Duration // not waiting for a person, up to the last event
	output       int64         // bytes of text in results
	failures     int           // in a row
}

// budget counts what the run uses.
type budget struct {
	turns, calls int // in all
	usage        tool.Usage
	cost         float64
	spent        spent           // since the run (re)started
	warned       map[Budget]bool // the budgets with a warning since then
}

// warnAt is the fraction of a budget at which people get a warning: late enough to matter, early
// enough to act.
const warnAt = 0.8

// level is the use of one budget.
type level struct {
	budget      Budget
	used, limit float64
	stop        StopReason
}

func (l *level) low() bool  { return l.used >= warnAt*l.limit }
func (l *level) over() bool { return l.used >= l.limit }

// levels returns the budgets of the run, in the order in which the run checks them.
func (b *budget) levels(limits *Limits) []level {
	u := &b.spent
	all := []level{
		{BudgetTurns, float64(u.turns), float64(limits.MaxTurns), StopMaxTurns},
		{BudgetCalls, float64(u.calls), float64(limits.MaxCalls), StopMaxCalls},
		{BudgetTokens, float64(u.tokens), float64(limits.MaxTokens), StopTokenBudget},
		{BudgetCost, u.cost, limits.MaxCost, StopCostBudget},
		{BudgetWallTime, u.wall.Seconds(), limits.MaxWallTime.Seconds(), StopWallTime},
		{BudgetOutput, float64(u.output), float64(limits.MaxOutput), StopOutputSize},
		{BudgetFailures, float64(u.failures), float64(limits.MaxFailures), StopFailures},
	}
	set := all[:0]
	for _, l := range all {
		if l.limit > 0 || l.budget == BudgetTurns {
			set = append(set, l)
		}
	}
	return set
}

// exhaustedMessage returns the message for a budget that is used up.
func (b *budget) exhaustedMessage(limits *Limits, which Budget) string {
	u := &b.spent
	switch which {
	case BudgetTurns:
		return fmt.Sprintf("the model gave %s, the run's limit", counted(u.turns, "response"))
	case BudgetTokens:
		return fmt.Sprintf("%d tokens were used; the run may use %d", u.tokens, limits.MaxTokens)
	case BudgetCost:
		return fmt.Sprintf("the run has cost %.4g; it may cost %.4g", u.cost, limits.MaxCost)
	case BudgetWallTime:
		return wallTimeMessage(limits.MaxWallTime)
	case BudgetOutput:
		return fmt.Sprintf("tools returned %d bytes of text; they may return %d", u.output, limits.MaxOutput)
	case BudgetFailures:
		return fmt.Sprintf("%s failed in a row, the run's limit", counted(u.failures, "call"))
	}
	return ""
}

// counted returns a number of things, as in 1 call and 2 calls.
func counted(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

func wallTimeMessage(limit time.Duration) string {
	return fmt.Sprintf("the run was at work for %s, its limit", limit)
}

// warnings returns the warnings that are due and not recorded yet.
func (s *State) warnings() []Command {
	var records []Command
	for _, l := range s.budget.levels(&s.started.Limits) {
		ending := s.stop != "" && s.stop != l.stop
		if l.low() && !s.budget.warned[l.budget] && !ending {
			records = append(records, Record{&BudgetWarning{Budget: l.budget, Used: l.used, Limit: l.limit}})
		}
	}
	return records
}

// overrun returns the first budget that is used up and ends the run, or nil. The last call within
// MaxCalls does not end the run. Only a call beyond the limit does.
func (b *budget) overrun(limits *Limits) *level {
	for _, l := range b.levels(limits) {
		if l.over() && l.budget != BudgetCalls {
			return &l
		}
	}
	return nil
}

// used returns what the run has used, as tools learn it.
func (b *budget) used() tool.UsageContext { return tool.UsageContext{Usage: b.usage, Cost: b.cost} }

// spendResponse counts a response. It may use up a budget before the calls of the response are
// made.
func (b *budget) spendResponse(p *AssistantMessage) {
	b.turns++
	b.spent.turns++
	b.usage = b.usage.Add(p.Usage).Add(p.Wasted)
	b.cost += p.Cost
	b.spent.addTokens(p.Usage.Add(p.Wasted))
	b.spent.cost += p.Cost
}

func (b *budget) spendResult(r *tool.Result) {
	cost := min(max(0, r.Cost), tool.MaxCost)
	b.usage = b.usage.Add(r.Usage)
	b.cost += cost
	b.spent.addTokens(r.Usage)
	b.spent.cost += cost
	for i := range r.Content {
		b.spent.output += int64(len(r.Content[i].Text) + len(r.Content[i].JSON))
	}
	b.spent.failures++
	if !r.IsError {
		b.spent.failures = 0
	}
}

// addTokens adds tokens, at most up to the largest number: a tool that reports a huge usage must
// not make the sum small again.
func (s *spent) addTokens(u tool.Usage) {
	s.tokens = tool.Usage{InputTokens: s.tokens}.Add(tool.Usage{InputTokens: u.Tokens()}).InputTokens
}

// refuseUnaffordable refuses the calls of a response that used up a budget, because the model would
// not read their results. Turns are an exception: the calls of the last permitted response are
// made, and their results end the run.
func (s *State) refuseUnaffordable() {
	for _, l := range s.budget.levels(&s.started.Limits) {
		if l.over() && (l.budget == BudgetTokens || l.budget == BudgetCost) {
			s.batch.refuseAll(fmt.Sprintf(budgetUsedUp, s.budget.exhaustedMessage(&s.started.Limits, l.budget)))
			s.stop, s.stopMessage = l.stop, s.budget.exhaustedMessage(&s.started.Limits, l.budget)
			return
		}
	}
}

// advanceClock counts the time up to an event, unless the run waited for a person or no process
// worked on it.
func (s *State) advanceClock(e Event) {
	gap := e.Time.Sub(s.at)
	if _, away := e.Payload.(*RunResumed); !away && gap > 0 && !s.at.IsZero() && s.atWork() {
		s.budget.spent.wall += gap
	}
	s.at = e.Time
}

// Timed reports whether the run has a time budget and uses it now.
func (s *State) Timed() bool { return s.started.Limits.MaxWallTime > 0 && s.atWork() }

// atWork reports whether the run waits for something other than a person.
func (s *State) atWork() bool {
	if s.finished != nil || s.seq == 0 {
		return false
	}
	asked := len(s.people.decisions) > 0
	for i := range s.batch.list {
		if c := &s.batch.list[i]; c.running() {
			if len(c.waitsFor) == 0 && !s.people.waitsForAnswer(c.ID) {
				return true
			}
			asked = true
		}
	}
	return !asked
}

// alarm returns the time of the next event that only the passing of time causes; see Due.
func (s *State) alarm() (at time.Time, ok bool) {
	for i := range s.people.decisions {
		if d := &s.people.decisions[i]; !d.Expires.IsZero() && (at.IsZero() || d.Expires.Before(at)) {
			at = d.Expires
		}
	}
	if limit := s.started.Limits.MaxWallTime; limit > 0 && s.atWork() && s.cancel == nil {
		if !s.budget.warned[BudgetWallTime] {
			limit = time.Duration(warnAt * float64(limit))
		}
		if end := s.at.Add(limit - s.budget.spent.wall); at.IsZero() || end.Before(at) {
			at = end
		}
	}
	return at, !at.IsZero()
}

// Due returns the events that are due at a time: expired decisions, and a time budget that is low
// or used up. It returns none before the time that Wait names.
func (s *State) Due(now time.Time) []Payload {
	if s.seq == 0 || s.finished != nil {
		return nil
	}
	var due []Payload
	for i := range s.people.decisions {
		if d := &s.people.decisions[i]; !d.Expires.IsZero() && !now.Before(d.Expires) {
			due = append(due, &DecisionMade{ID: d.ID, Verdict: VerdictExpired})
		}
	}
	limit := s.started.Limits.MaxWallTime
	if limit <= 0 || !s.atWork() || s.cancel != nil {
		return due
	}
	used := s.budget.spent.wall + max(0, now.Sub(s.at))
	if used >= time.Duration(warnAt*float64(limit)) && !s.budget.warned[BudgetWallTime] {
		due = append(due, &BudgetWarning{Budget: BudgetWallTime, Used: used.Seconds(), Limit: limit.Seconds()})
	}
	if used >= limit {
		due = append(due, &CancelRequested{Stop: StopWallTime, Reason: wallTimeMessage(limit)})
	}
	return due
}

// spendSummary counts the cost of a summary.
func (b *budget) spendSummary(p *Compacted) {
	b.usage = b.usage.Add(p.Usage)
	b.cost += p.Cost
	b.spent.addTokens(p.Usage)
	b.spent.cost += p.Cost
}
