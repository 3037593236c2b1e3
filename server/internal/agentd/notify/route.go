package notify

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/tool"
)

// Kind is what a message is about.
type Kind string

// The kinds. Routes name all of them except Reminder.
const (
	Waiting  Kind = "waiting"  // a run waits for a decision
	Ending   Kind = "ending"   // a decision ends soon
	Reminder Kind = "reminder" // a decision still waits
	Failed   Kind = "failed"   // a run that a user started has ended without success
	Finished Kind = "finished" // a run that a user started has ended with success
	Unknown  Kind = "unknown"  // the outcome of a call is unknown
	Budget   Kind = "budget"   // 80 % of a budget are used
)

// Route says which messages go to which targets. An empty list selects all.
type Route struct {
	On      []Kind
	Tenants []string
	Agents  []string
	// Rules are names of rules of the policy. With them, the route has only decisions that such a rule
	// wants.
	Rules []string
	To    []string // names of targets
	// Arguments says whether a message has the arguments of the call, or the text of the question.
	Arguments bool
	// Remind is when a decision that still waits is told again. Zero means never.
	Remind time.Duration
}

// fact is what a route looks at.
type fact struct {
	kind                Kind
	tenant, agent, rule string
}

func (r *Route) has(f fact) bool {
	kind := f.kind
	if kind == Reminder {
		kind = Waiting
	}
	return slices.Contains(r.On, kind) && allows(r.Tenants, f.tenant) && allows(r.Agents, f.agent) && allows(r.Rules, f.rule)
}

func allows(list []string, name string) bool { return len(list) == 0 || slices.Contains(list, name) }

// maxLead is how long before its end a decision is told at the latest. One that waits for a shorter
// time is told after four fifths of it.
const maxLead = time.Hour

// Routes are the routes of a configuration.
type Routes []Route

// Messages returns the messages that events of a run cause. s is the state after the events.
func (routes Routes) Messages(s *loop.State, events []loop.Event) []runstore.Message {
	var messages []runstore.Message
	if len(routes) == 0 {
		return nil
	}
	started := s.Started()
	for _, e := range events {
		of := fact{tenant: agent.TenantOf(started.RunID), agent: started.Agent}
		add := func(kind Kind, decision string, due func(*Route) (time.Time, bool)) {
			of.kind = kind
			for target, at := range routes.targets(of, due) {
				messages = append(messages, runstore.Message{
					ID: messageID(started.RunID, &e, kind, target), Kind: string(kind), RunID: started.RunID, Seq: e.Seq,
					Decision: decision, Target: target, Created: e.Time, Due: at, Until: at.Add(keep),
				})
			}
		}
		now := func(*Route) (time.Time, bool) { return e.Time, true }
		switch p := e.Payload.(type) {
		case *loop.DecisionRequested:
			of.rule = p.Rule
			add(Waiting, p.ID, now)
			if p.Expiry > 0 {
				add(Ending, p.ID, endsSoon(e.Time, p.Expiry))
			}
			add(Reminder, p.ID, func(r *Route) (time.Time, bool) {
				return e.Time.Add(r.Remind), r.Remind > 0 && (p.Expiry == 0 || r.Remind < p.Expiry)
			})
		case *loop.DecisionExtended:
			if d := s.Decision(p.ID); d != nil {
				of.rule = d.Rule
				add(Ending, p.ID, endsSoon(d.Requested, p.Expires.Sub(d.Requested)))
			}
		case *loop.CallResult:
			if p.Failure != nil && p.Failure.Kind == tool.KindOutcomeUnknown && !asked(s) {
				add(Unknown, "", now)
			}
		case *loop.BudgetWarning:
			add(Budget, "", now)
		case *loop.RunFinished:
			switch {
			case started.Parent != nil: // its parent goes on
			case p.StopReason.Succeeded():
				add(Finished, "", now)
			default:
				add(Failed, "", now)
			}
		}
	}
	return messages
}

// endsSoon returns when it is told that a decision ends soon.
func endsSoon(requested time.Time, expiry time.Duration) func(*Route) (time.Time, bool) {
	return func(*Route) (time.Time, bool) { return requested.Add(expiry - min(expiry/5, maxLead)), true }
}

// asked reports whether a person decided about an unknown outcome, and so knows of it.
func asked(s *loop.State) bool {
	people := s.Started().People
	return people.Attended && people.AskOutcome && !s.Cancelling()
}

// targets returns the targets of a fact with the earliest time that a route says.
func (routes Routes) targets(of fact, due func(*Route) (time.Time, bool)) map[string]time.Time {
	found := map[string]time.Time{}
	for i := range routes {
		r := &routes[i]
		at, wanted := due(r)
		if !wanted || !r.has(of) {
			continue
		}
		for _, target := range r.To {
			if before, known := found[target]; !known || at.Before(before) {
				found[target] = at
			}
		}
	}
	return found
}

// lead reports whether a route leads to a target.
func (routes Routes) lead(of fact, target string) bool {
	return slices.ContainsFunc(routes, func(r Route) bool { return r.has(of) && slices.Contains(r.To, target) })
}

// arguments reports whether a route lets a target have the arguments.
func (routes Routes) arguments(of fact, target string) bool {
	return slices.ContainsFunc(routes, func(r Route) bool { return r.Arguments && r.has(of) && slices.Contains(r.To, target) })
}

// messageID returns the id of a message. The time is part of it, because the journal of a restored
// backup gives the position of an event to another one.
func messageID(run string, e *loop.Event, kind Kind, target string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %d %d %s %q", run, e.Seq, e.Time.UnixNano(), kind, target))
	return "msg_" + hex.EncodeToString(sum[:16])
}
