package loop

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
)

// The messages that the loop adds to a conversation.
const (
	cutTextMessage   = "Your response was cut at its token limit. Go on exactly where it ended."
	cutCallMessage   = "[not run] The response was cut at its token limit before this call was complete, so it was not made. Make it again, with shorter arguments if possible."
	callsUsedUp      = "[not run] The run has reached its limit of %d tool calls."
	callTooExpensive = "[not run] A use of this tool costs %.4g, and the calls before it use up the run's cost budget of %.4g."
	refusedCall      = "[not run] The response ended with %s, so its calls were not made."
	cancelledCall    = "[cancelled] The run was cancelled before this call began, so it was not made."
	stoppedCall      = "[not run] The run ended before this call began: %s."
	budgetUsedUp     = "[not run] The run has used up a budget: %s."
	emptyMessage     = "Your response was empty: it had no text and no tool call. Go on with the task, or give your answer as text."
	callAsText       = "[not run] Your response is a tool call as text (%s), so nothing was called. Call a tool as a function call of the API, with one of the names that you were offered. If you meant it as your answer, write a sentence and put it in a code block after it."
	nothingShown     = "(The tool succeeded and returned nothing to read.)"
	droppedEffects   = "[context not changed] The tool succeeded, but what it wanted to change in the run's context was refused: %s."
	editedCall       = "[edited] A person approved this call with other arguments than yours. It was made with: %s"
)

// Apply folds a durable event into the state. It fails if the event cannot follow the events before
// it. The state is then unusable.
func (s *State) Apply(e Event) error { return fold{s}.apply(e) }

// fold changes a state as one event says. Nothing else changes a state.
type fold struct{ state *State }

func (f fold) apply(e Event) error {
	if !e.Durable() || e.Seq != f.state.seq+1 {
		return fmt.Errorf("event %d (%s) cannot follow event %d", e.Seq, e.Payload.Type(), f.state.seq)
	}
	if (f.state.seq == 0) != (e.Payload.Type() == TypeRunStarted) {
		return fmt.Errorf("event %d is %s: a journal begins with %s and has it nowhere else", e.Seq, e.Payload.Type(), TypeRunStarted)
	}
	f.advanceClock(e)
	f.state.seq = e.Seq
	switch p := e.Payload.(type) {
	case *RunStarted:
		f.state.started, f.state.values.context, f.state.ledger = *p, p.Context, p.Ledger
		f.restart()
		f.state.conversation.hear(e.Seq, p.Prompt, p.Attachments)
	case *UserMessage:
		f.applyUserMessage(e.Seq, p)
	case *AssistantMessage:
		return f.applyAssistant(p)
	case *CallStarted:
		return f.applyStarted(p, e.Time)
	case *CallResult:
		return f.applyResult(p)
	case *DecisionRequested:
		return f.applyRequested(p, e.Time)
	case *DecisionMade:
		return f.applyMade(p, e.Time)
	case *CancelRequested:
		if f.state.finished == nil && f.state.cancel == nil {
			f.state.cancel = p
		}
	case *RunFinished:
		if f.state.finished != nil || f.state.batch.pending > 0 {
			return fmt.Errorf("event %d finishes a run that is finished already or has calls without a result", e.Seq)
		}
		f.state.finished, f.state.cancel, f.state.stop, f.state.stopMessage = p, nil, "", ""
		f.state.budget.usage, f.state.budget.cost = p.Usage, p.Cost // including failed attempts
		f.state.paused, f.state.people.decisions = nil, nil
	default:
		return f.applyAnnounced(p)
	}
	return nil
}

// applyAnnounced folds the events that record what the state already contains, and those that other
// runs cause.
func (f fold) applyAnnounced(p Payload) error {
	switch p := p.(type) {
	case *BudgetWarning:
		f.state.budget.warned[p.Budget] = true
	case *TodoChange, *ContextChange:
		// These events only record what the state already contains, so a journal without them folds
		// to the same state.
		f.state.news = slices.DeleteFunc(f.state.news, func(n Payload) bool { return n.Type() == p.Type() })
	case *SubRunStarted:
		f.state.news = slices.DeleteFunc(f.state.news, func(n Payload) bool {
			sub, ok := n.(*SubRunStarted)
			return ok && sub.CallID == p.CallID
		})
	case *Compacted:
		return f.applyCompacted(p)
	case *RunResumed: // advanceClock has skipped the pause
		if p.Ledger != "" {
			f.state.ledger = p.Ledger
		}
	case *SubRunWaiting:
		return f.state.batch.applySubRunWaiting(f.state.seq, p)
	case *ModelReplied:
		return f.applyModelReplied(p)
	case *StandingApproved:
		return f.applyStandingApproved(p)
	default:
		return fmt.Errorf("event %d is %s, which no journal holds", f.state.seq, p.Type())
	}
	return nil
}

// restart resets what counts toward limits. A run restarts with the first event and with each user
// message after it has finished.
func (f fold) restart() {
	f.state.budget.spent, f.state.budget.warned, f.state.stall = spent{}, make(map[Budget]bool), stall{since: f.state.seq}
	f.state.capRaised, f.state.empty = false, 0
	f.state.answering = answering{}
	f.state.window.full, f.state.window.overflowed, f.state.window.summaryWanted, f.state.window.summaryFailed = false, false, "", false
}

func (f fold) applyUserMessage(seq uint64, p *UserMessage) {
	f.state.conversation.hear(seq, p.Text, p.Attachments)
	switch {
	case f.state.finished != nil:
		f.state.finished, f.state.text, f.state.ledger = nil, "", ""
		f.restart()
	case f.state.paused != nil:
		judge(f).resume()
	}
}

func (f fold) applyStarted(p *CallStarted, at time.Time) error {
	c := f.state.batch.find(p.CallID)
	if c == nil || c.running() || c.waiting || c.result != nil || max(p.Attempt, 1) != c.Attempt+1 {
		return fmt.Errorf("event %d starts call %s, which is not to be started so", f.state.seq, p.CallID)
	}
	c.started, c.Attempt, c.Ledger, c.FirstSent, c.replies = true, max(p.Attempt, 1), p.Ledger, at, nil
	if c.System == SystemNewTask {
		in, _ := f.state.started.parseTask(&c.Call)
		f.state.news = append(f.state.news, &SubRunStarted{CallID: c.ID, RunID: SubRunID(f.state.started.RunID, c.ID), Prompt: in.Task, Agent: in.Agent})
	}
	return nil
}

func (f fold) applyAssistant(p *AssistantMessage) error {
	if f.state.finished != nil || f.state.batch.pending > 0 {
		return fmt.Errorf("event %d is a response without a request", f.state.seq)
	}
	f.state.conversation.read(p.Read)
	before := f.state.budget.used()
	f.state.budget.spendResponse(p)
	f.state.text = p.Text()
	f.state.batch.list, f.state.batch.serial, f.state.stop, f.state.stopMessage = nil, false, "", ""
	f.state.answering.verdict, f.state.answering.result = p.Answer, nil
	if p.empty() {
		f.state.empty++
	} else {
		f.state.empty = 0
		f.state.conversation.messages = append(f.state.conversation.messages, p.Message)
		f.state.conversation.size += sizeOfBlocks(p.Message.Blocks)
	}
	f.state.window.measure(p, f.state.conversation.size)
	i := 0
	for _, block := range p.Message.Blocks {
		if block.ToolCall == nil {
			continue
		}
		if i == len(p.Calls) {
			return fmt.Errorf("event %d has more calls than it names", f.state.seq)
		}
		c := p.Calls[i]
		c.ReturnDirect = c.ReturnDirect && !f.state.started.structured()
		f.state.conversation.providerIDs.add(block.ToolCall.ID)
		f.state.batch.list = append(f.state.batch.list, callState{Call: c, refusal: c.Refusal, providerID: block.ToolCall.ID, name: block.ToolCall.Name})
		f.state.batch.serial = f.state.batch.serial || c.Serial
		i++
	}
	if f.state.batch.pending = len(f.state.batch.list); f.state.batch.pending > 0 {
		f.state.batch.before = before
	}
	if f.state.stall.asText++; p.Markup == "" {
		f.state.stall.asText = 0
	}
	judge(f).judgeResponse(p)
	switch {
	case len(f.state.batch.list) == 0:
		f.state.answering.verdict = nil
	case f.state.stop == "" && !judge(f).answersAlone():
		judge(f).refuseUnaffordable()
	}
	return nil
}

// judge decides what a response means for the run, and later what the results of the response's
// calls mean.
type judge struct{ state *State }

// judgeResponse decides what a response means for its calls and for the run.
func (s judge) judgeResponse(p *AssistantMessage) {
	switch reason := p.StopReason; reason {
	case model.StopMaxTokens:
		s.judgeCut()
	case model.StopContextOverflow:
		s.judgeFull()
	case model.StopRefusal, model.StopContentFilter:
		s.state.batch.refuseAll(fmt.Sprintf(refusedCall, reason))
		s.state.stop = StopReason(reason)
	case model.StopEndTurn, model.StopToolUse, model.StopPauseTurn, "":
		// Servers differ in the stop reason of a response with calls. The calls decide.
		switch {
		case len(s.state.batch.list) > 0:
			s.state.stall.withoutCalls = 0
			s.charge()
		case s.state.empty > 1:
			s.state.stop, s.state.stopMessage = StopEmptyResponse, "the model responded twice in a row without text and without a call"
		case reason == model.StopPauseTurn:
			// The next request has the same conversation.
		case s.state.started.structured():
			s.judgeText()
		case p.Markup != "":
			s.judgeCallAsText(p.Markup)
		case s.state.started.ExplicitCompletion:
			s.remind()
		case s.state.empty > 0:
			s.askAgain()
		default:
			s.state.stop = StopEndTurn
		}
	default:
		// The meaning of the response's calls is unknown. A provider should not return such a
		// response.
		s.state.batch.refuseAll(fmt.Sprintf(refusedCall, "an unknown reason"))
		s.state.stop, s.state.stopMessage = StopModelError, fmt.Sprintf("the response ended for the reason %q, which is not known", reason)
	}
}

// askAgain adds a message for a model whose response was empty. To a repeated request, most models
// would respond with nothing again.
func (s judge) askAgain() {
	if len(s.state.conversation.unread) == 0 { // a new user message continues the run
		s.state.conversation.pushUser(textBlock(emptyMessage))
	}
}

// judgeCallAsText tells a model once that its call was none. What a text might call is not executed: its
// markup may be a quotation, and its arguments may be cut.
func (s judge) judgeCallAsText(form string) {
	switch {
	case s.state.stall.asText > 1:
		s.state.stop, s.state.stopMessage = StopCallAsText, fmt.Sprintf("the model wrote a tool call as text (%s), also after a message that nothing was called", form)
	case len(s.state.conversation.unread) == 0: // else a new user message continues the run
		s.state.conversation.pushUser(textBlock(fmt.Sprintf(callAsText, form)))
	}
}

// judgeCut raises the token limit once. The calls of a cut response are not made: the last one may
// be incomplete, and the others may depend on it.
func (s judge) judgeCut() {
	s.state.batch.refuseAll(cutCallMessage)
	if s.state.capRaised {
		s.state.stop, s.state.stopMessage = StopMaxTokens, "the response was cut at its token limit, also after the limit was raised"
		return
	}
	s.state.capRaised = true
	if len(s.state.batch.list) == 0 && s.state.empty == 0 {
		words := cutTextMessage
		if s.state.started.structured() {
			words = cutAnswerMessage
		}
		s.state.conversation.pushUser(textBlock(words))
	}
}

// charge counts the calls that will be made and refuses those beyond a limit.
func (s judge) charge() {
	limit := s.state.started.Limits.MaxCalls
	declared := s.state.budget.spent.cost
	for i := range s.state.batch.list {
		c := &s.state.batch.list[i]
		if c.refusal != "" {
			continue
		}
		if most := s.state.started.Limits.MaxCost; most > 0 && c.CostPerUse > 0 && declared >= most {
			c.refusal = fmt.Sprintf(callTooExpensive, c.CostPerUse, most)
			continue
		}
		declared += c.CostPerUse
		if c.System != "" && c.System != SystemNewTask {
			continue // the number of turns bounds them
		}
		if s.state.budget.spent.calls >= limit {
			c.refusal = fmt.Sprintf(callsUsedUp, limit)
			s.state.stop, s.state.stopMessage = StopMaxCalls, fmt.Sprintf("the run made %d tool calls, its limit", s.state.budget.spent.calls)
			continue
		}
		s.state.budget.spent.calls++
		s.state.budget.calls++
	}
}

func (f fold) applyResult(p *CallResult) error {
	c := f.state.batch.find(p.CallID)
	if c == nil || c.result != nil {
		return fmt.Errorf("event %d is a result of call %s, which wants none", f.state.seq, p.CallID)
	}
	c.result, c.waiting, c.settled = p, false, nil
	f.state.settlements.add(p.Settled)
	f.state.people.withdraw(c.ID)
	if f.state.batch.pending--; f.state.batch.pending == 0 {
		judge(f).finishBatch()
	}
	return nil
}

// finishBatch adds the results to the conversation, in call order, and decides whether the run
// continues.
func (s judge) finishBatch() {
	s.foldEffects()
	blocks := make([]model.Block, len(s.state.batch.list))
	direct, text := true, ""
	for i := range s.state.batch.list {
		c := &s.state.batch.list[i]
		result := &c.result.Result
		blocks[i].ToolResult = &model.ToolResult{ID: c.providerID, Name: c.name, Content: c.shown(), IsError: result.IsError}
		direct = direct && c.ReturnDirect && !result.IsError
		if text != "" {
			text += "\n"
		}
		text += cmp.Or(c.result.Answer, result.Text())
		s.state.budget.spendResult(result)
		s.state.stall.observe(c)
		s.concludeSystem(c)
	}
	s.state.conversation.pushUser(blocks...)
	if s.state.stall.malformed++; !allMalformed(s.state.batch.list) {
		s.state.stall.malformed = 0
	}
	done := s.state.batch.completed()
	s.concludeAnswer()
	s.state.batch.clear()
	s.state.answering.verdict = nil
	switch {
	case s.state.stop != "":
	case direct:
		s.state.stop, s.state.text = StopReturnDirect, text
	case done != nil:
		s.state.stop, s.state.text = StopCompleted, done.Result.Text()
	default:
		s.judgeStall()
	}
}
