package loop

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Marshal is json.Marshal without HTML escapes, so that opaque blocks return to a model unchanged.
func Marshal(v any) (json.RawMessage, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// NewPayload returns an empty payload of a durable type, or nil if the type is unknown.
func NewPayload(t Type) Payload {
	switch t {
	case TypeRunStarted:
		return new(RunStarted)
	case TypeUserMessage:
		return new(UserMessage)
	case TypeAssistantMessage:
		return new(AssistantMessage)
	case TypeCallStarted:
		return new(CallStarted)
	case TypeCallResult:
		return new(CallResult)
	case TypeCancelRequested:
		return new(CancelRequested)
	case TypeRunFinished:
		return new(RunFinished)
	case TypeDecisionRequested:
		return new(DecisionRequested)
	case TypeDecisionMade:
		return new(DecisionMade)
	case TypeBudgetWarning:
		return new(BudgetWarning)
	case TypeContextChange:
		return new(ContextChange)
	case TypeTodoChange:
		return new(TodoChange)
	case TypeSubRunStarted:
		return new(SubRunStarted)
	case TypeCompacted:
		return new(Compacted)
	case TypeRunResumed:
		return new(RunResumed)
	case TypeSubRunWaiting:
		return new(SubRunWaiting)
	case TypeModelReplied:
		return new(ModelReplied)
	case TypeStandingApproved:
		return new(StandingApproved)
	case TypeDecisionExtended:
		return new(DecisionExtended)
	}
	return nil
}

// Bind sets the arguments of each of Calls from its block in Message.
func (m *AssistantMessage) Bind() error {
	i := 0
	for _, block := range m.Message.Blocks {
		if block.ToolCall == nil {
			continue
		}
		if i < len(m.Calls) {
			m.Calls[i].Arguments = block.ToolCall.Arguments
		}
		i++
	}
	if i != len(m.Calls) {
		return fmt.Errorf("the message asks for %d calls and %d are named", i, len(m.Calls))
	}
	return nil
}
