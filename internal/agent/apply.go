package agent

import (
	"fmt"

	"github.com/toolhost/toolhost/internal/model"
)

// The words that the loop itself puts into a conversation.
const (
	cutTextWords  = "Your response was cut at its token limit. Go on exactly where it ended."
	cutCallWords  = "[not run] The response was cut at its token limit before this call was complete, so it was not made. Make it again, with shorter arguments if possible."
	callsGone     = "[not run] The run has reached its limit of %d tool calls."
	refusedCall   = "[not run] The response ended with %s, so its calls were not made."
	cancelledCall = "[cancelled] The run was cancelled before this call began, so it was not made."
)

// Apply folds a durable event into the state. An error says that the event cannot follow what came before; the state
// is then of no use any more.
func (s *State) Apply(e Event) error {
	if !e.Durable() || e.Seq != s.seq+1 {
		return fmt.Errorf("event %d (%s) cannot follow event %d", e.Seq, e.Payload.Type(), s.seq)
	}
	if (s.seq == 0) != (e.Payload.Type() == TypeRunStarted) {
		return fmt.Errorf("event %d is %s: a journal begins with %s and has it nowhere else", e.Seq, e.Payload.Type(), TypeRunStarted)
	}
	s.seq = e.Seq
	switch p := e.Payload.(type) {
	case *RunStarted:
		s.started = *p
		s.providerIDs = make(map[string]struct{})
		s.unread = append(s.unread, unread{e.Seq, p.Prompt})
	case *UserMessage:
		s.applyUserMessage(e.Seq, p)
	case *AssistantMessage:
		return s.applyAssistant(p)
	case *CallStarted:
		c := s.find(p.CallID)
		if c == nil || c.started || c.result != nil {
			return fmt.Errorf("event %d starts call %s, which is not to be started", e.Seq, p.CallID)
		}
		c.started = true
	case *CallResult:
		return s.applyResult(e.Seq, p)
	case *CancelRequested:
		if s.finished == nil && s.cancel == nil {
			s.cancel = p
		}
	case *RunFinished:
		if s.finished != nil || s.pending > 0 {
			return fmt.Errorf("event %d finishes a run that is finished already or has calls without a result", e.Seq)
		}
		s.finished, s.cancel, s.stop, s.stopWords = p, nil, "", ""
	default:
		return fmt.Errorf("event %d is %s, which no journal holds", e.Seq, e.Payload.Type())
	}
	return nil
}

func (s *State) applyUserMessage(seq uint64, p *UserMessage) {
	s.unread = append(s.unread, unread{seq, p.Text})
	if s.finished != nil {
		s.finished, s.text = nil, ""
		s.goTurns, s.goCalls, s.capRaised, s.empty = 0, 0, false, 0
	}
}

func (s *State) applyAssistant(p *AssistantMessage) error {
	if s.finished != nil || s.pending > 0 {
		return fmt.Errorf("event %d is a response that nobody asked for", s.seq)
	}
	for len(s.unread) > 0 && s.unread[0].seq <= p.Read {
		s.pushUser(textBlock(s.unread[0].text))
		s.unread = s.unread[1:]
	}
	s.turns++
	s.goTurns++
	s.usage = s.usage.Add(p.Usage)
	s.text = p.Text()
	s.batch, s.serial, s.stop, s.stopWords = nil, false, "", ""
	if len(p.Message.Blocks) == 0 {
		s.empty++
	} else {
		s.empty = 0
		s.messages = append(s.messages, p.Message)
	}
	i := 0
	for _, block := range p.Message.Blocks {
		if block.ToolCall == nil {
			continue
		}
		if i == len(p.Calls) {
			return fmt.Errorf("event %d has more calls than it names", s.seq)
		}
		c := p.Calls[i]
		s.providerIDs[block.ToolCall.ID] = struct{}{}
		s.batch = append(s.batch, callState{Call: c, refusal: c.Refusal, providerID: block.ToolCall.ID, name: block.ToolCall.Name})
		s.serial = s.serial || c.Serial
		i++
	}
	s.pending = len(s.batch)
	s.judge(p.StopReason)
	return nil
}

// judge decides what a response's stop reason means for its calls and for the run.
func (s *State) judge(reason model.StopReason) {
	switch reason {
	case model.StopMaxTokens:
		s.judgeCut()
	case model.StopRefusal, model.StopContentFilter, model.StopContextOverflow:
		s.refuseAll(fmt.Sprintf(refusedCall, reason))
		s.stop = StopReason(reason)
	default:
		// Servers differ in how they end a response that has calls: the calls count, not the word.
		switch {
		case len(s.batch) > 0:
			s.charge()
		case s.empty > 1:
			s.stop, s.stopWords = StopModelError, "the model answered nothing, twice"
		case reason == model.StopPauseTurn, s.empty > 0 && reason == model.StopToolUse:
			// Asked again with the same conversation.
		default:
			s.stop = StopEndTurn
		}
	}
}

// judgeCut raises the cap once. Calls in a cut response are not made: the last of them may be only half there, and
// the others may have meant to go with it.
func (s *State) judgeCut() {
	s.refuseAll(cutCallWords)
	if s.capRaised {
		s.stop, s.stopWords = StopMaxTokens, "the response was cut at its token limit, also after the limit was raised"
		return
	}
	s.capRaised = true
	if len(s.batch) == 0 && s.empty == 0 {
		s.pushUser(textBlock(cutTextWords))
	}
}

// charge counts the calls that are to be made and refuses those beyond the limit.
func (s *State) charge() {
	limit := s.started.Limits.MaxCalls
	for i := range s.batch {
		c := &s.batch[i]
		if c.refusal != "" {
			continue
		}
		if s.goCalls >= limit {
			c.refusal = fmt.Sprintf(callsGone, limit)
			s.stop, s.stopWords = StopMaxCalls, fmt.Sprintf("the run made %d tool calls, its limit", s.goCalls)
			continue
		}
		s.goCalls++
		s.calls++
	}
}

func (s *State) refuseAll(words string) {
	for i := range s.batch {
		s.batch[i].refusal = words
	}
}

func (s *State) applyResult(seq uint64, p *CallResult) error {
	c := s.find(p.CallID)
	if c == nil || c.result != nil {
		return fmt.Errorf("event %d is a result of call %s, which wants none", seq, p.CallID)
	}
	c.result = p
	if s.pending--; s.pending > 0 {
		return nil
	}
	blocks := make([]model.Block, len(s.batch))
	direct, text := true, ""
	for i := range s.batch {
		c := &s.batch[i]
		result := &c.result.Result
		blocks[i].ToolResult = &model.ToolResult{ID: c.providerID, Name: c.name, Content: result.Content, IsError: result.IsError}
		direct = direct && c.ReturnDirect && !result.IsError
		if text != "" {
			text += "\n"
		}
		text += result.Text()
	}
	s.pushUser(blocks...)
	s.batch = nil
	if direct && s.stop == "" {
		s.stop, s.text = StopReturnDirect, text
	}
	return nil
}
