package loop

import (
	"cmp"
	"fmt"
	"time"
)

// Command is something that has to be done for a run: one of Record, AskModel, Summarize, CallTool and Wait.
type Command interface{ command() }

// Record says that an event has to be appended: the state alone decides what it holds.
type Record struct{ Payload Payload }

// AskModel says that the model's next response has to be had, for State.Request.
type AskModel struct {
	Turn int // State.Turn, which names the command: it is to be carried out once
}

// CallTool says that a call has to be under way until its result is there. The call's id names the command: whoever
// carries it out does so once per process, and toolhost executes an id once, whoever asks.
type CallTool struct {
	Call Call
	// Cancel is set when the call is to be cancelled. It still has to get its result.
	Cancel *CancelRequested
}

// Wait says that something happens if nothing does until then; see State.Due. It is the last command, if it is there.
type Wait struct {
	Until time.Time // zero: for as long as it takes a person
}

func (Record) command()   {}
func (AskModel) command() {}
func (CallTool) command() {}
func (Wait) command()     {}

// planner reads a state and names what has to be done. It changes nothing.
type planner struct{ *State }

// Next returns what has to be done, from the state alone: either Records, to be appended in this order before anything
// else, or everything that has to be under way now. What is under way and no longer named has to be stopped. Nothing
// at all means that the run is finished.
func Next(s *State) []Command {
	if s.seq == 0 || s.finished != nil {
		return nil
	}
	p := planner{s}
	if told := p.announcements(); len(told) > 0 {
		return told
	}
	commands := p.next()
	if len(commands) > 0 {
		if _, record := commands[0].(Record); record {
			return commands
		}
	}
	if until, ok := p.alarm(); ok || len(s.decisions) > 0 {
		commands = append(commands, Wait{until})
	}
	return commands
}

// tellings returns what people are to be told of what happened.
func (s planner) announcements() []Command {
	var records []Command
	for _, p := range s.news {
		records = append(records, Record{p})
	}
	if s.cancel == nil {
		records = append(records, s.warnings()...)
	}
	return records
}

func (s planner) next() []Command {
	switch {
	case s.pending > 0:
		return s.nextCalls()
	case s.cancel != nil:
		return s.finish(StopReason(cmp.Or(string(s.cancel.Stop), string(StopCancelled))), s.cancel.Reason)
	case s.stop.Succeeded() && len(s.unread) > 0:
		// The user has said more meanwhile.
	case s.stop != "":
		return s.finish(s.stop, s.stopMessage)
	}
	if over := s.overrun(&s.started.Limits); over != nil {
		return s.finish(over.stop, s.exhaustedMessage(&s.started.Limits, over.budget))
	}
	if s.paused != nil {
		return s.nextPause()
	}
	if commands := s.nextCompaction(); commands != nil {
		return commands
	}
	return []Command{AskModel{Turn: s.Turn()}}
}

// nextStuck asks a person whether the run goes on. Where nobody can be asked, it does not.
func (s planner) nextPause() []Command {
	switch {
	case len(s.decisions) > 0:
		return nil
	case s.started.People.Attended:
		return []Command{Record{s.request(DecidePause, nil, s.paused.message, s.started.People.Expiry)}}
	}
	return s.finish(s.paused.stop, s.paused.message)
}

func (s planner) finish(reason StopReason, words string) []Command {
	return []Command{Record{s.finishing(reason, words)}}
}

func (s *State) finishing(reason StopReason, words string) *RunFinished {
	return &RunFinished{StopReason: reason, Message: words, Text: s.text, Turns: s.turns, Calls: s.calls, Usage: s.usage, Cost: s.cost}
}

func (s planner) nextCalls() []Command {
	var records, calls []Command
	busy := 0 // calls beside which a serial one must not run
	for i := range s.batch.list {
		c := &s.batch.list[i]
		if c.running() {
			calls = append(calls, CallTool{Call: c.Call, Cancel: s.cancel})
		}
		if c.running() || c.waiting {
			busy++
		}
	}
	for i := range s.batch.list {
		c := &s.batch.list[i]
		if c.running() || c.result != nil {
			continue
		}
		p := s.nextCall(c, s.serial && busy > 0)
		if p == nil {
			continue
		}
		if _, over := p.(*CallResult); !over {
			busy++
		}
		records = append(records, Record{p})
		if p.Type() == TypeDecisionRequested {
			break // the next one's id follows from this one
		}
	}
	if len(records) > 0 {
		return records
	}
	return calls
}

// nextCall returns what happens to a call that is not under way; nil if it has to wait. blocked says that others are
// in its way.
func (s planner) nextCall(c *callState, blocked bool) Payload {
	switch {
	case c.settled != nil:
		return c.settled
	case c.refusal != "":
		return errorResult(&c.Call, c.refusal)
	case s.cancel != nil && c.held != nil:
		return c.held
	case s.cancel != nil && s.cancel.Stop != "":
		return errorResult(&c.Call, fmt.Sprintf(stoppedCall, s.cancel.Reason))
	case s.cancel != nil:
		return errorResult(&c.Call, cancelledCall)
	case c.waiting, blocked:
		return nil
	}
	if p, ok := s.nextSystem(c); ok {
		return p
	}
	started := &CallStarted{CallID: c.ID, Tool: c.Tool}
	sent := c.Call
	if sent.Attempt++; sent.Attempt > 1 {
		started.Attempt = sent.Attempt
	}
	started.Traceparent = s.started.Trace(sent.SentID())
	return started
}

// Failed returns how the run ends when the model's response cannot be had.
func (s *State) Failed(reason StopReason, words string) *RunFinished {
	return s.finishing(reason, words)
}
