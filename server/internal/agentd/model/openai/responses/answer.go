package responses

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/model/openai/wire"
	"github.com/toolhost/toolhost/tool"
)

// answer assembles a response from its events. Compatible servers deviate from the API, so it
// accepts:
// - events whose type is only in the line "event:"
// - events without output_index or item_id, and ids that change between the events of an item
// - items without deltas, and a complete response instead of a stream
// - unknown events and items, which it ignores
//
// The type output separates the items. An event after the one that ends the response is not read.
type answer struct {
	output  output
	refused bool
	status  string // how the response ended; empty if it has not
	reason  string // why it is incomplete
	usage   tool.Usage
	begun   bool // an event has arrived
}

// add adds the next event and returns the chunks that it yields.
func (a *answer) add(came wire.Event) ([]model.Chunk, error) {
	data := bytes.TrimSpace(came.Data)
	if len(data) == 0 {
		return nil, nil
	}
	a.begun = true
	if wire.IsDone(data) {
		return nil, nil
	}
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		return nil, wire.Malformed(fmt.Errorf("reading an event: %w", err))
	}
	e.Type = cmp.Or(e.Type, came.Kind)
	switch {
	case e.Object == "response":
		e.Response = new(result)
		if err := json.Unmarshal(data, e.Response); err != nil {
			return nil, wire.Malformed(fmt.Errorf("reading a response: %w", err))
		}
	case e.Type == "error" || !absent(e.Error):
		return nil, wire.BrokenOff(data)
	}
	if e.Response != nil && e.Response.Usage != nil {
		a.usage = e.Response.Usage.tokens()
	}
	if status := ending(&e); status != "" {
		return a.end(status, e.Response)
	}
	return a.take(&e)
}

// take adds an event that does not end the response.
func (a *answer) take(e *event) ([]model.Chunk, error) {
	switch e.Type {
	case "response.output_item.added":
		return a.output.added(e), nil
	case "response.output_item.done":
		return a.done(e.OutputIndex, e.Item)
	case "response.output_text.delta":
		return a.output.textDelta(e), nil
	case "response.output_text.done":
		return a.output.partDone(e, e.Text), nil
	case "response.refusal.delta":
		a.refused = true
		return a.output.textDelta(e), nil
	case "response.refusal.done":
		a.refused = true
		return a.output.partDone(e, e.Refusal), nil
	case "response.function_call_arguments.delta":
		return a.output.argumentDelta(e), nil
	case "response.function_call_arguments.done":
		return a.output.wholeArguments(a.output.find(typeCall, e), e.Name, e.Arguments)
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		return a.output.thoughtDelta(e), nil
	}
	return nil, nil
}

// done adds a complete item.
func (a *answer) done(index *int, i *item) ([]model.Chunk, error) {
	if i == nil {
		return nil, nil
	}
	if i.Type == typeMessage {
		for _, p := range i.parts(i.Content) {
			a.refused = a.refused || p.Type == "refusal"
		}
	}
	return a.output.finish(index, i)
}

// ending returns how an event ends the response: completed, incomplete, failed or another status.
// It is empty for other events.
func ending(e *event) string {
	var status string
	switch e.Type {
	case "response.completed", "response.done":
		status = "completed"
	case "response.incomplete":
		status = "incomplete"
	case "response.failed":
		status = "failed"
	case "response.cancelled":
		status = "cancelled"
	default:
		if e.Object != "response" {
			return ""
		}
	}
	if e.Response != nil {
		switch e.Response.Status {
		case "completed", "incomplete", "failed", "cancelled":
			status = e.Response.Status
		}
		status = cmp.Or(status, e.Response.Status)
	}
	return cmp.Or(status, "unknown")
}

// end records the end of the response. If no items have arrived before, the server does not stream
// them, and the response has them.
func (a *answer) end(status string, r *result) ([]model.Chunk, error) {
	if r == nil {
		r = new(result)
	}
	if status == "failed" {
		if absent(r.Error) {
			r.Error = nil
		}
		return nil, wire.BrokenOff(r.Error)
	}
	var chunks []model.Chunk
	if a.output.empty() {
		for index, i := range r.Output {
			more, err := a.done(&index, i)
			if err != nil {
				return nil, err
			}
			chunks = append(chunks, more...)
		}
	}
	a.status, a.reason = status, r.Incomplete.Reason
	return chunks, nil
}

// complete reports whether the server marked the end of the response.
func (a *answer) complete() bool { return a.status != "" }

// rest returns chunks for incomplete characters at the end of the texts.
func (a *answer) rest() []model.Chunk { return a.output.rest() }

func (a *answer) response() (*model.Response, error) {
	reason, err := a.stopReason()
	if err != nil {
		return nil, err
	}
	blocks, err := a.output.blocks(a.status == "completed")
	if err != nil {
		return nil, wire.Malformed(err)
	}
	return &model.Response{Message: model.Message{Role: model.RoleAssistant, Blocks: blocks}, StopReason: reason, Usage: a.usage}, nil
}

// stopReason translates the status of the response, or returns an error that discards the response.
// docs/models.md has the table.
func (a *answer) stopReason() (model.StopReason, error) {
	switch a.status {
	case "completed":
	case "incomplete":
		switch a.reason {
		case "max_output_tokens":
			return model.StopMaxTokens, nil
		case "content_filter":
			return model.StopContentFilter, nil
		}
		return "", model.UnknownStop(cmp.Or(a.reason, a.status))
	default:
		return "", model.UnknownStop(a.status)
	}
	switch {
	case a.refused:
		return model.StopRefusal, nil
	case len(a.output.begun) > 0:
		return model.StopToolUse, nil
	}
	return model.StopEndTurn, nil
}
