package agent

import (
	"fmt"

	"github.com/toolhost/toolhost/internal/model"
)

// Command is something that has to be done for a run: one of Record, AskModel and CallTool.
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

func (Record) command()   {}
func (AskModel) command() {}
func (CallTool) command() {}

// Next returns what has to be done, from the state alone: either Records, to be appended in this order before anything
// else, or everything that has to be under way now. What is under way and no longer named has to be stopped. Nothing
// at all means that the run is finished.
func Next(s *State) []Command {
	switch {
	case s.seq == 0 || s.finished != nil:
		return nil
	case s.pending > 0:
		return s.nextCalls()
	case s.cancel != nil:
		return s.finish(StopCancelled, s.cancel.Reason)
	case s.stop == StopEndTurn && len(s.unread) > 0:
		// The user has said more meanwhile.
	case s.stop != "":
		return s.finish(s.stop, s.stopWords)
	}
	if limit := s.started.Limits.MaxTurns; s.goTurns >= limit {
		return s.finish(StopMaxTurns, fmt.Sprintf("the model gave %d responses, the run's limit", s.goTurns))
	}
	return []Command{AskModel{Turn: s.Turn()}}
}

func (s *State) finish(reason StopReason, words string) []Command {
	return []Command{Record{s.finishing(reason, words)}}
}

func (s *State) finishing(reason StopReason, words string) *RunFinished {
	return &RunFinished{StopReason: reason, Message: words, Text: s.text, Turns: s.turns, Calls: s.calls, Usage: s.usage}
}

func (s *State) nextCalls() []Command {
	var records, calls []Command
	running := 0
	for i := range s.batch {
		if c := &s.batch[i]; c.started && c.result == nil {
			running++
			calls = append(calls, CallTool{Call: c.Call, Cancel: s.cancel})
		}
	}
	for i := range s.batch {
		c := &s.batch[i]
		switch {
		case c.started || c.result != nil:
		case c.refusal != "":
			records = append(records, Record{errorResult(&c.Call, c.refusal)})
		case s.cancel != nil:
			records = append(records, Record{errorResult(&c.Call, cancelledCall)})
		case !s.serial || running == 0:
			running++
			records = append(records, Record{&CallStarted{CallID: c.ID, Tool: c.Tool}})
		}
	}
	if len(records) > 0 {
		return records
	}
	return calls
}

// Failed returns how the run ends when the model's response cannot be had.
func (s *State) Failed(reason StopReason, words string) *RunFinished {
	return s.finishing(reason, words)
}

// modelFailure returns the stop reason and the words for an error of a model.
func modelFailure(e *model.Error) (StopReason, string) {
	if e.ContextOverflow {
		return StopContextOverflow, e.Error()
	}
	return StopModelError, e.Error()
}
