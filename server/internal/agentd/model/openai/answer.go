package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/model/openai/wire"
	"github.com/toolhost/toolhost/tool"
)

// answer assembles a response from its events. Compatible servers deviate from the API, so it
// accepts:
// - events without choices, with null for any text, or with an error that is null
// - a stream without [DONE], or with [DONE] but without a finish reason
// - usage in any event; the last one counts
// - a complete message instead of deltas
// - unknown fields, which it ignores
//
// The type calls separates tool calls. The type kept has what the server wants back.
type answer struct {
	server  string // for kept
	text    strings.Builder
	joiner  model.Joiner // of text
	calls   calls
	thought thought
	refused bool
	finish  string // the finish reason; empty if none has arrived
	usage   tool.Usage
	begun   bool // an event has arrived
	done    bool // [DONE] has arrived
}

// add adds the next event and returns the chunks that it yields.
func (a *answer) add(came wire.Event) ([]model.Chunk, error) {
	data := bytes.TrimSpace(came.Data)
	if len(data) == 0 {
		return nil, nil
	}
	a.begun = true
	if wire.IsDone(data) {
		a.done = true
		return nil, nil
	}
	if data[0] == '[' && wire.ReadProblem(data).Message != "" {
		return nil, wire.BrokenOff(data) // Gemini sends errors as lists
	}
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		return nil, wire.Malformed(fmt.Errorf("reading an event: %w", err))
	}
	if !absent(e.Error) {
		return nil, wire.BrokenOff(e.Error)
	}
	if came.Kind == "error" {
		return nil, wire.BrokenOff(data)
	}
	if e.Usage != nil {
		a.usage = e.Usage.tokens()
	}
	var chunks []model.Chunk
	for _, choice := range e.Choices {
		if choice.Index != 0 {
			continue
		}
		chunks = append(chunks, a.delta(choice.Delta)...)
		chunks = append(chunks, a.delta(choice.Message)...)
		if choice.FinishReason != nil && *choice.FinishReason != "" {
			a.ended(*choice.FinishReason)
		}
	}
	return chunks, nil
}

func (a *answer) delta(d delta) []model.Chunk {
	var chunks []model.Chunk
	if text := a.thought.add(d); text != "" {
		chunks = append(chunks, model.Chunk{ReasoningDelta: &model.ReasoningDelta{Text: text}})
	}
	if d.Refusal != "" {
		a.refused = true
	}
	if text := a.joiner.Add(string(d.Content.text + d.Refusal)); text != "" {
		a.text.WriteString(text)
		chunks = append(chunks, model.Chunk{TextDelta: &model.TextDelta{Text: text}})
	}
	for _, c := range d.ToolCalls {
		chunks = append(chunks, a.calls.add(c)...)
	}
	if d.FunctionCall != nil {
		index := 0 // the old field allows only one call
		chunks = append(chunks, a.calls.add(callDelta{Index: &index, Function: *d.FunctionCall})...)
	}
	return chunks
}

// rest returns chunks for incomplete characters at the end of the texts.
func (a *answer) rest() []model.Chunk {
	var chunks []model.Chunk
	if text := a.joiner.Rest(); text != "" {
		a.text.WriteString(text)
		chunks = append(chunks, model.Chunk{TextDelta: &model.TextDelta{Text: text}})
	}
	for _, c := range a.calls.begun {
		if text := c.joiner.Rest(); text != "" {
			c.write(text)
			chunks = append(chunks, c.delta(text))
		}
	}
	return chunks
}

// complete reports whether the server marked the end of the response.
func (a *answer) complete() bool { return a.done || a.finish != "" }

func (a *answer) response() (*model.Response, error) {
	message := model.Message{Role: model.RoleAssistant}
	if block, ok := a.kept().block(); ok {
		message.Blocks = append(message.Blocks, block)
	}
	if a.text.Len() > 0 {
		message.Blocks = append(message.Blocks, model.Block{Text: &model.Text{Text: a.text.String()}})
	}
	calls, err := a.calls.finished()
	if err != nil {
		return nil, wire.Malformed(err)
	}
	for _, call := range calls {
		message.Blocks = append(message.Blocks, model.Block{ToolCall: call})
	}
	reason, err := a.stopReason()
	if err != nil {
		return nil, err
	}
	return &model.Response{Message: message, StopReason: reason, Usage: a.usage}, nil
}

// stopReason translates the API's finish reason, or returns an error that discards the response.
// docs/models.md has the table.
func (a *answer) stopReason() (model.StopReason, error) {
	switch a.finish {
	case "length":
		return model.StopMaxTokens, nil
	case "content_filter":
		return model.StopContentFilter, nil
	case "model_length": // Mistral: the model's window is full
		return model.StopContextOverflow, nil
	case "stop", "tool_calls", "function_call", "":
	default:
		return "", model.UnknownStop(a.finish)
	}
	switch {
	case a.refused:
		return model.StopRefusal, nil
	case len(a.calls.begun) > 0:
		// Compatible servers use these reasons differently, and some send none before [DONE].
		// Whether the response has calls decides.
		return model.StopToolUse, nil
	}
	return model.StopEndTurn, nil
}

// ended records a finish reason. The last one counts, except after an unknown one: a response that
// ended with an error stays an error.
func (a *answer) ended(reason string) {
	before := *a
	if _, err := before.stopReason(); err == nil {
		a.finish = reason
	}
}

// kept returns the data that the server requires with the message in later requests. A server that
// requires it in a conversation with calls requires it with every message, also with final answers
// and with those before the first call. For a message with only thoughts it is empty, because the
// message would not be an answer.
func (a *answer) kept() *kept {
	if len(a.calls.begun) == 0 && a.text.Len() == 0 {
		return &kept{}
	}
	k := &kept{Server: a.server, Reasoning: a.thought.reasoning.String(), Details: a.thought.details.list(), Extra: a.calls.extra()}
	if a.thought.named {
		text := a.thought.content.String()
		k.ReasoningContent = &text
	}
	return k
}

// thought assembles the model's thoughts from deltas.
type thought struct {
	named              bool // the server sends the field reasoning_content
	content, reasoning strings.Builder

	contentJoiner, reasoningJoiner, partsJoiner model.Joiner
	details                                     details
}

// add adds a delta and returns the piece of reasoning in it. Servers that send it under several
// names send the same text under each.
func (t *thought) add(d delta) string {
	t.named = t.named || d.ReasoningContent.set
	content := t.contentJoiner.Add(string(d.ReasoningContent.text))
	reasoning := t.reasoningJoiner.Add(string(d.Reasoning))
	t.content.WriteString(content)
	t.reasoning.WriteString(reasoning)
	var pieces []json.RawMessage
	// The details are missing or in an unknown form if they are no list.
	_ = json.Unmarshal(d.ReasoningDetails, &pieces)
	for _, piece := range pieces {
		t.details.add(piece)
	}
	return cmp.Or(content, reasoning, t.partsJoiner.Add(string(d.Content.thoughts)))
}
