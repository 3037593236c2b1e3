package loop

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
)

// Apply folds a durable event into the state. It fails if the event cannot follow the events before
// it. The state is then unusable.
func (s *State) Apply(e Event) error {
	if !e.Durable() || e.Seq != s.seq+1 {
		return fmt.Errorf("event %d (%s) cannot follow event %d", e.Seq, e.Payload.Type(), s.seq)
	}
	if (s.seq == 0) != (e.Payload.Type() == TypeRunStarted) {
		return fmt.Errorf("event %d is %s: a journal begins with %s and has it nowhere else", e.Seq, e.Payload.Type(), TypeRunStarted)
	}
	s.advanceClock(e)
	s.seq = e.Seq
	switch p := e.Payload.(type) {
	case *RunStarted:
		s.started, s.values.context, s.ledger = *p, p.Context, p.Ledger
		s.restart()
		s.conversation.hear(e.Seq, p.Prompt, p.Attachments)
	case *UserMessage:
		s.applyUserMessage(e.Seq, p)
	case *AssistantMessage:
		return s.applyAssistant(p)
	case *CallStarted:
		return s.applyStarted(p, e.Time)
	case *CallResult:
		return s.applyResult(p)
	case *DecisionRequested:
		return s.applyRequested(p, e.Time)
	case *DecisionMade:
		return s.applyMade(p, e.Time)
	case *CancelRequested:
		if s.finished == nil && s.cancel == nil {
			s.cancel = p
		}
	case *RunFinished:
		if s.finished != nil || s.batch.pending > 0 {
			return fmt.Errorf("event %d finishes a run that is finished already or has calls without a result", e.Seq)
		}
		s.finished, s.cancel, s.stop, s.stopMessage = p, nil, "", ""
		s.budget.usage, s.budget.cost = p.Usage, p.Cost // including failed attempts
		s.paused, s.people.decisions = nil, nil
	default:
		return s.applyAnnounced(p)
	}
	return nil
}

// applyAnnounced folds the events that record what the state already contains, and those that other
// runs cause.
func (s *State) applyAnnounced(p Payload) error {
	switch p := p.(type) {
	case *BudgetWarning:
		s.budget.warned[p.Budget] = true
	case *TodoChange, *ContextChange:
		// These events only record what the state already contains, so a journal without them folds
		// to the same state.
		s.news = slices.DeleteFunc(s.news, func(n Payload) bool { return n.Type() == p.Type() })
	case *SubRunStarted:
		s.news = slices.DeleteFunc(s.news, func(n Payload) bool {
			sub, ok := n.(*SubRunStarted)
			return ok && sub.CallID == p.CallID
		})
	case *Compacted:
		return s.applyCompacted(p)
	case *RunResumed: // advanceClock has skipped the pause
		if p.Ledger != "" {
			s.ledger = p.Ledger
		}
	case *SubRunWaiting:
		return s.batch.applySubRunWaiting(s.seq, p)
	case *ModelReplied:
		return s.applyModelReplied(p)
	case *StandingApproved:
		return s.applyStandingApproved(p)
	case *DecisionExtended:
		return s.applyExtended(p)
	default:
		return fmt.Errorf("event %d is %s, which no journal holds", s.seq, p.Type())
	}
	return nil
}

// restart resets what counts toward limits. A run restarts with the first event and with each user
// message after it has finished.
func (s *State) restart() {
	s.budget.spent, s.budget.warned, s.stall = spent{}, make(map[Budget]bool), stall{since: s.seq}
	s.capRaised, s.empty = false, 0
	s.answering = answering{}
	s.window.full, s.window.overflowed, s.window.summaryWanted, s.window.summaryFailed = false, false, "", false
}

func (s *State) applyUserMessage(seq uint64, p *UserMessage) {
	s.conversation.hear(seq, p.Text, p.Attachments)
	s.note(seq, p)
	switch {
	case s.finished != nil:
		s.finished, s.text, s.ledger = nil, "", ""
		s.restart()
	case s.paused != nil:
		s.resume()
	}
}

func (s *State) applyStarted(p *CallStarted, at time.Time) error {
	c := s.batch.find(p.CallID)
	if c == nil || c.running() || c.waiting || c.result != nil || max(p.Attempt, 1) != c.Attempt+1 {
		return fmt.Errorf("event %d starts call %s, which is not to be started so", s.seq, p.CallID)
	}
	c.started, c.Attempt, c.Ledger, c.FirstSent, c.replies = true, max(p.Attempt, 1), p.Ledger, at, nil
	if c.System == SystemNewTask {
		in, _ := s.started.parseTask(&c.Call)
		s.news = append(s.news, &SubRunStarted{CallID: c.ID, RunID: SubRunID(s.started.RunID, c.ID), Prompt: in.Task, Agent: in.Agent})
	}
	return nil
}

func (s *State) applyAssistant(p *AssistantMessage) error {
	if s.finished != nil || s.batch.pending > 0 {
		return fmt.Errorf("event %d is a response without a request", s.seq)
	}
	s.conversation.read(p.Read)
	before := s.budget.used()
	s.budget.spendResponse(p)
	s.text = p.Text()
	s.batch.list, s.batch.serial, s.stop, s.stopMessage = nil, false, "", ""
	s.answering.verdict, s.answering.result = p.Answer, nil
	if p.empty() {
		s.empty++
	} else {
		s.empty = 0
		s.conversation.messages = append(s.conversation.messages, p.Message)
		s.conversation.size += sizeOfBlocks(p.Message.Blocks)
	}
	s.window.measure(p, s.conversation.size)
	i := 0
	for _, block := range p.Message.Blocks {
		if block.ToolCall == nil {
			continue
		}
		if i == len(p.Calls) {
			return fmt.Errorf("event %d has more calls than it names", s.seq)
		}
		c := p.Calls[i]
		c.ReturnDirect = c.ReturnDirect && !s.started.structured()
		s.conversation.providerIDs.add(block.ToolCall.ID)
		s.batch.list = append(s.batch.list, callState{Call: c, refusal: c.Refusal, providerID: block.ToolCall.ID, name: block.ToolCall.Name})
		s.batch.serial = s.batch.serial || c.Serial
		i++
	}
	if s.batch.pending = len(s.batch.list); s.batch.pending > 0 {
		s.batch.before = before
	}
	if s.stall.asText++; p.Markup == "" {
		s.stall.asText = 0
	}
	s.judgeResponse(p)
	switch {
	case len(s.batch.list) == 0:
		s.answering.verdict = nil
	case s.stop == "" && !s.answersAlone():
		s.refuseUnaffordable()
	}
	return nil
}

// judgeResponse decides what a response means for its calls and for the run.
func (s *State) judgeResponse(p *AssistantMessage) {
	switch reason := p.StopReason; reason {
	case model.StopMaxTokens:
		s.judgeCut()
	case model.StopContextOverflow:
		s.judgeFull()
	case model.StopRefusal, model.StopContentFilter:
		s.batch.refuseAll(fmt.Sprintf(refusedCall, reason))
		s.stop = StopReason(reason)
	case model.StopEndTurn, model.StopToolUse, model.StopPauseTurn, "":
		// Servers differ in the stop reason of a response with calls. The calls decide.
		switch {
		case len(s.batch.list) > 0:
			s.stall.withoutCalls = 0
			s.charge()
		case s.empty > 1:
			s.stop, s.stopMessage = StopEmptyResponse, "the model responded twice in a row without text and without a call"
		case reason == model.StopPauseTurn:
			// The next request has the same conversation.
		case s.started.structured():
			s.judgeText()
		case p.Markup != "":
			s.judgeCallAsText(p.Markup)
		case s.started.ExplicitCompletion:
			s.remind()
		case s.empty > 0:
			s.askAgain()
		default:
			s.stop = StopEndTurn
		}
	default:
		// The meaning of the response's calls is unknown. A provider should not return such a
		// response.
		s.batch.refuseAll(fmt.Sprintf(refusedCall, "an unknown reason"))
		s.stop, s.stopMessage = StopModelError, fmt.Sprintf("the response ended for the reason %q, which is not known", reason)
	}
}

// askAgain adds a message for a model whose response was empty. To a repeated request, most models
// would respond with nothing again.
func (s *State) askAgain() {
	if len(s.conversation.unread) == 0 { // a new user message continues the run
		s.conversation.pushUser(textBlock(emptyMessage))
	}
}

// judgeCallAsText tells a model once that its call was none. What a text might call is not
// executed: its markup may be a quotation, and its arguments may be cut.
func (s *State) judgeCallAsText(form string) {
	switch {
	case s.stall.asText > 1:
		s.stop, s.stopMessage = StopCallAsText, fmt.Sprintf("the model wrote a tool call as text (%s), also after a message that nothing was called", form)
	case len(s.conversation.unread) == 0: // else a new user message continues the run
		s.conversation.pushUser(textBlock(fmt.Sprintf(callAsText, form)))
	}
}

// judgeCut raises the token limit once. The calls of a cut response are not made: the last one may
// be incomplete, and the others may depend on it.
func (s *State) judgeCut() {
	s.batch.refuseAll(cutCallMessage)
	if s.capRaised {
		s.stop, s.stopMessage = StopMaxTokens, "the response was cut at its token limit, also after the limit was raised"
		return
	}
	s.capRaised = true
	if len(s.batch.list) == 0 && s.empty == 0 {
		words := cutTextMessage
		if s.started.structured() {
			words = cutAnswerMessage
		}
		s.conversation.pushUser(textBlock(words))
	}
}

// charge counts the calls that will be made and refuses those beyond a limit.
func (s *State) charge() {
	limit := s.started.Limits.MaxCalls
	declared := s.budget.spent.cost
	for i := range s.batch.list {
		c := &s.batch.list[i]
		if c.refusal != "" {
			continue
		}
		if most := s.started.Limits.MaxCost; most > 0 && c.CostPerUse > 0 && declared >= most {
			c.refusal = fmt.Sprintf(callTooExpensive, c.CostPerUse, most)
			continue
		}
		declared += c.CostPerUse
		if c.System != "" && c.System != SystemNewTask {
			continue // the number of turns bounds them
		}
		if s.budget.spent.calls >= limit {
			c.refusal = fmt.Sprintf(callsUsedUp, limit)
			s.stop, s.stopMessage = StopMaxCalls, fmt.Sprintf("the run made %d tool calls, its limit", s.budget.spent.calls)
			continue
		}
		s.budget.spent.calls++
		s.budget.calls++
	}
}

func (s *State) applyResult(p *CallResult) error {
	c := s.batch.find(p.CallID)
	if c == nil || c.result != nil {
		return fmt.Errorf("event %d is a result of call %s, which wants none", s.seq, p.CallID)
	}
	c.result, c.waiting, c.settled = p, false, nil
	s.settlements.add(p.Settled)
	s.people.withdraw(c.ID)
	if s.batch.pending--; s.batch.pending == 0 {
		s.finishBatch()
	}
	return nil
}

// finishBatch adds the results to the conversation, in call order, and decides whether the run
// continues.
func (s *State) finishBatch() {
	s.foldEffects()
	blocks := make([]model.Block, len(s.batch.list))
	direct, text := true, ""
	for i := range s.batch.list {
		c := &s.batch.list[i]
		result := &c.result.Result
		blocks[i].ToolResult = &model.ToolResult{ID: c.providerID, Name: c.name, Content: c.shown(), IsError: result.IsError}
		direct = direct && c.ReturnDirect && !result.IsError
		if text != "" {
			text += "\n"
		}
		text += cmp.Or(c.result.Answer, result.Text())
		s.budget.spendResult(result)
		s.stall.observe(c)
		s.concludeSystem(c)
	}
	s.conversation.pushUser(blocks...)
	if s.stall.malformed++; !allMalformed(s.batch.list) {
		s.stall.malformed = 0
	}
	done := s.batch.completed()
	s.concludeAnswer()
	s.batch.clear()
	s.answering.verdict = nil
	switch {
	case s.stop != "":
	case direct:
		s.stop, s.text = StopReturnDirect, text
	case done != nil:
		s.stop, s.text = StopCompleted, done.Result.Text()
	default:
		s.judgeStall()
	}
}
