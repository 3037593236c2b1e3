package loop

import (
	"cmp"
	"fmt"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// Command is something that the driver has to do for a run: Record, AskModel, Summarize, CallTool,
// ReviewCall, ApproveStanding or Wait.
type Command interface{ command() }

// Record appends an event. Only the state decides its content.
type Record struct{ Payload Payload }

// AskModel requests the model's next response, for State.Request.
type AskModel struct {
	Turn int // State.Turn, which identifies the command
}

// CallTool tells the driver to carry out a call until it has a result. The call's id identifies the
// command. A process carries out a command once, and toolhost executes an id once.
type CallTool struct {
	Call Call
	// Cancel is set if the call has to be cancelled. It still gets its result.
	Cancel *CancelRequested
	// Replies are the answers to the questions of the tool, by question. toolhost may have some of
	// them already.
	Replies map[uint32]tool.Answer
}

// ReviewCall tells the driver to learn whether a call that has to wait for others needs an
// approval, without making it: what a response asks is asked together, and a call before this one
// already waits for a decision. The driver hands what toolhost requires to Review. The call's id
// identifies the command, and a process carries it out once: the command stays if nobody has to be
// asked.
type ReviewCall struct {
	Call Call
}

// Wait gives the time at which an event becomes due if nothing else happens before; see State.Due.
// It is always the last command.
type Wait struct {
	Until time.Time // zero: a person may take any time
}

func (Record) command()     {}
func (AskModel) command()   {}
func (CallTool) command()   {}
func (ReviewCall) command() {}
func (Wait) command()       {}

// Next returns the commands that follow from the state. They are either only Records, which the
// driver appends in this order before it does anything else, or everything that has to be in
// progress now. The driver stops everything that is in progress but not among the commands. No
// command means that the run has finished.
func Next(s *State) []Command {
	if s.seq == 0 || s.finished != nil {
		return nil
	}
	if told := s.announcements(); len(told) > 0 {
		return told
	}
	commands := s.next()
	if len(commands) > 0 {
		if _, record := commands[0].(Record); record {
			return commands
		}
	}
	if until, ok := s.alarm(); ok || len(s.people.decisions) > 0 {
		commands = append(commands, Wait{until})
	}
	return commands
}

// announcements returns the records of what has happened and is not recorded yet.
func (s *State) announcements() []Command {
	var records []Command
	for _, p := range s.news {
		records = append(records, Record{p})
	}
	if s.cancel == nil {
		records = append(records, s.warnings()...)
	}
	return records
}

func (s *State) next() []Command {
	switch {
	case s.batch.pending > 0:
		return s.nextCalls()
	case s.cancel != nil:
		return s.finish(StopReason(cmp.Or(string(s.cancel.Stop), string(StopCancelled))), s.cancel.Reason)
	case s.stop.Succeeded() && len(s.conversation.unread) > 0:
		// A new user message continues the run.
	case s.stop != "":
		return s.finish(s.stop, s.stopMessage)
	}
	if over := s.budget.overrun(&s.started.Limits); over != nil {
		return s.finish(over.stop, s.budget.exhaustedMessage(&s.started.Limits, over.budget))
	}
	if s.paused != nil {
		return s.nextPause()
	}
	if commands := s.nextCompaction(); commands != nil {
		return commands
	}
	return []Command{AskModel{Turn: s.Turn()}}
}

// nextPause requests a person's decision whether the run continues. Without a person, the run ends.
func (s *State) nextPause() []Command {
	switch {
	case len(s.people.decisions) > 0:
		return nil
	case s.started.People.Attended:
		return []Command{Record{s.people.request(DecidePause, nil, s.paused.message, s.started.People.Expiry)}}
	}
	return s.finish(s.paused.stop, s.paused.message)
}

func (s *State) finish(reason StopReason, words string) []Command {
	return []Command{Record{s.finishing(reason, words)}}
}

func (s *State) finishing(reason StopReason, words string) *RunFinished {
	end := &RunFinished{StopReason: reason, Message: words, Text: s.text, Turns: s.budget.turns, Calls: s.budget.calls, Usage: s.budget.usage, Cost: s.budget.cost}
	if reason.Succeeded() {
		end.Result = s.answering.result
	}
	return end
}

func (s *State) nextCalls() []Command {
	var records, calls []Command
	gate, asks := s.batch.gate(), false
	for i := range s.batch.list {
		c := &s.batch.list[i]
		held := gate.holds(&c.Call)
		gate.pass(c)
		asks = asks || c.waiting
		switch {
		case c.result != nil:
			continue
		case c.running():
			calls = append(calls, CallTool{Call: c.Call, Cancel: s.cancel, Replies: c.replies})
			continue
		}
		p := s.nextCall(c, held)
		if p == nil && asks && s.mayReview(c) {
			calls = append(calls, ReviewCall{c.Call})
		}
		if p == nil {
			continue
		}
		records = append(records, Record{p})
		if p.Type() == TypeDecisionRequested {
			break // the id of the next decision follows from this one
		}
	}
	if len(records) > 0 {
		return records
	}
	return append(calls, s.standings()...)
}

// mayReview reports whether it is worth asking toolhost about a call that has to wait: it may need
// an approval, and nobody has decided about it.
func (s *State) mayReview(c *callState) bool {
	return s.started.People.Attended && c.System == "" && !c.waiting && c.Approval == nil
}

// nextCall returns the next event of a call that is not in progress, or nil if the call has to
// wait. held means that it has to wait for other calls of the batch.
func (s *State) nextCall(c *callState, held bool) Payload {
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
	case c.waiting, held, c.standing != nil:
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

// Failed returns the end of a run whose model request failed.
func (s *State) Failed(reason StopReason, words string) *RunFinished {
	return s.finishing(reason, words)
}
