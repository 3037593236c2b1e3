package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolhost/toolhost/internal/agent/runstore"
)

// encodingVersion is the version of the payloads' JSON that this program writes. It grows when a field changes its
// meaning; new optional fields do not need it. decode reads all versions up to it.
const encodingVersion = 1

// encode returns a durable payload as a record. An error means that something in it is no JSON.
func encode(p Payload, at time.Time) (runstore.Record, error) {
	data, err := marshal(p)
	if err != nil {
		return runstore.Record{}, fmt.Errorf("encoding %s: %w", p.Type(), err)
	}
	return runstore.Record{Time: at, Type: string(p.Type()), Version: encodingVersion, Data: data}, nil
}

// marshal is json.Marshal without the escapes that only HTML needs: opaque blocks go back to a model as they came.
func marshal(v any) (json.RawMessage, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// decode returns the event in a record.
func decode(rec runstore.Record) (Event, error) {
	if rec.Version < 1 || rec.Version > encodingVersion {
		return Event{}, fmt.Errorf("event %d (%s) has encoding %d, and this program knows only up to %d; use a newer agentd",
			rec.Seq, rec.Type, rec.Version, encodingVersion)
	}
	p := newPayload(Type(rec.Type))
	if p == nil {
		return Event{}, fmt.Errorf("event %d is of the unknown type %q; use a newer agentd", rec.Seq, rec.Type)
	}
	if err := json.Unmarshal(rec.Data, p); err != nil {
		return Event{}, fmt.Errorf("decoding event %d (%s): %w", rec.Seq, rec.Type, err)
	}
	if m, ok := p.(*AssistantMessage); ok {
		if err := m.bind(); err != nil {
			return Event{}, fmt.Errorf("decoding event %d (%s): %w", rec.Seq, rec.Type, err)
		}
	}
	return Event{Seq: rec.Seq, Time: rec.Time, Payload: p}, nil
}

// newPayload returns an empty payload of a durable type, or nil.
func newPayload(t Type) Payload {
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
	}
	return nil
}

// bind gives each of Calls the arguments of its block in Message.
func (m *AssistantMessage) bind() error {
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
