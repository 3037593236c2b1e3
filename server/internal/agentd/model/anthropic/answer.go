package anthropic

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

// answer assembles a response from its events.
type answer struct {
	server string // Model.server
	// without the arguments of calls: the SDK drops arguments that are not JSON
	message sdk.Message
	calls   map[int64]*call // by block index
	// by block index; the SDK's own texts lose characters that two events share
	texts   map[int64]*text
	thought model.Joiner // joins the text of the block that is thinking now
	begun   bool         // an event has arrived
	started bool         // message_start has arrived
	stopped bool         // message_stop has arrived
}

type call struct {
	index int
	// arguments in the event that starts the block, as some compatible servers send them
	whole     string
	arguments strings.Builder
	joiner    model.Joiner
}

type text struct {
	received strings.Builder
	joiner   model.Joiner
}

func (t *text) add(piece string) []model.Chunk {
	if piece == "" {
		return nil
	}
	t.received.WriteString(piece)
	return []model.Chunk{{TextDelta: &model.TextDelta{Text: piece}}}
}

// unquoted returns the text of a field in the form of model.Unquote. If raw is not a JSON string,
// it returns the text that the SDK decoded.
func unquoted(raw, decoded string) string {
	if text, err := model.Unquote([]byte(raw)); err == nil && strings.HasPrefix(raw, `"`) {
		return text
	}
	return decoded
}

// add adds the next event and returns the chunks that it yields.
func (a *answer) add(event sdk.MessageStreamEventUnion) ([]model.Chunk, error) {
	// The SDK would replace the message and its blocks, but calls and texts have those of the first
	// one.
	if event.Type == "message_start" && (a.started || len(event.Message.Content) > 0) {
		return nil, malformed(errors.New("a message began twice, or with blocks"))
	}
	a.begun, a.started = true, a.started || event.Type == "message_start"
	if err := a.message.Accumulate(event); err != nil {
		return nil, malformed(err)
	}
	switch event.Type {
	case "content_block_start":
		return a.start(event)
	case "content_block_delta":
		return a.delta(event), nil
	case "content_block_stop":
		return a.stop(event.Index), nil
	case "message_stop":
		a.stopped = true
	}
	return nil, nil
}

func (a *answer) start(event sdk.MessageStreamEventUnion) ([]model.Chunk, error) {
	block := event.ContentBlock
	switch block.Type {
	case "text":
		if a.texts == nil {
			a.texts = make(map[int64]*text)
		}
		t := &text{}
		a.texts[event.Index] = t
		return t.add(t.joiner.Add(unquoted(block.JSON.Text.Raw(), block.Text))), nil
	case "thinking":
		return reasoning(a.thought.Add(unquoted(block.JSON.Thinking.Raw(), block.Thinking))), nil
	case "tool_use":
		if block.Name == "" || block.ID == "" {
			return nil, malformed(fmt.Errorf("a tool call came without a name or without an id"))
		}
		c := &call{index: len(a.calls), whole: block.JSON.Input.Raw()}
		if a.calls == nil {
			a.calls = make(map[int64]*call)
		}
		a.calls[event.Index] = c
		return []model.Chunk{{CallBegun: &model.CallBegun{Index: c.index, ID: block.ID, Name: block.Name}}}, nil
	}
	return nil, nil
}

func (a *answer) delta(event sdk.MessageStreamEventUnion) []model.Chunk {
	switch event.Delta.Type {
	case "text_delta":
		if t := a.texts[event.Index]; t != nil {
			return t.add(t.joiner.Add(unquoted(event.Delta.JSON.Text.Raw(), event.Delta.Text)))
		}
	case "input_json_delta":
		if c := a.calls[event.Index]; c != nil {
			return c.add(c.joiner.Add(unquoted(event.Delta.JSON.PartialJSON.Raw(), event.Delta.PartialJSON)))
		}
	case "thinking_delta":
		return reasoning(a.thought.Add(unquoted(event.Delta.JSON.Thinking.Raw(), event.Delta.Thinking)))
	}
	return nil
}

// reasoning returns the chunk for a piece of the model's thinking.
func reasoning(piece string) []model.Chunk {
	if piece == "" {
		return nil
	}
	return []model.Chunk{{ReasoningDelta: &model.ReasoningDelta{Text: piece}}}
}

func (a *answer) stop(block int64) []model.Chunk {
	if rest := a.thought.Rest(); rest != "" {
		return reasoning(rest)
	}
	if t := a.texts[block]; t != nil {
		return t.add(t.joiner.Rest())
	}
	c := a.calls[block]
	if c != nil {
		if rest := c.joiner.Rest(); rest != "" {
			return c.add(rest)
		}
	}
	if c == nil || c.arguments.Len() > 0 || c.whole == "null" {
		return nil
	}
	// There was no delta, so the start of the block had all arguments. This is usually {}, for a
	// call without arguments.
	return c.add(c.whole)
}

func (c *call) add(text string) []model.Chunk {
	if text == "" {
		return nil
	}
	c.arguments.WriteString(text)
	return []model.Chunk{{ArgumentDelta: &model.ArgumentDelta{Index: c.index, Text: text}}}
}

func (a *answer) response() (*model.Response, error) {
	response := &model.Response{Message: model.Message{Role: model.RoleAssistant}, Usage: a.usage()}
	for i, block := range a.message.Content {
		switch block.Type {
		case "text":
			if t := a.texts[int64(i)]; t != nil && t.received.Len() > 0 {
				response.Message.Blocks = append(response.Message.Blocks, model.Block{Text: &model.Text{Text: t.received.String()}})
			}
		case "tool_use":
			response.Message.Blocks = append(response.Message.Blocks, model.Block{ToolCall: &model.ToolCall{
				ID: block.ID, Name: block.Name, Arguments: a.calls[int64(i)].arguments.String(),
			}})
		default:
			owner := provider
			if block.Type == "thinking" && block.Signature == "" {
				if a.server == "" || a.message.StopReason == sdk.StopReasonMaxTokens {
					continue // the token limit truncated it, and the API refuses unsigned thinking
				}
				owner = unsignedOf(a.server)
			}
			raw := json.RawMessage(block.RawJSON())
			if !json.Valid(raw) {
				return nil, malformed(fmt.Errorf("a block of type %q is no JSON", block.Type))
			}
			response.Message.Blocks = append(response.Message.Blocks, model.Block{Opaque: &model.Opaque{Provider: owner, JSON: model.CleanJSON(raw)}})
		}
	}
	var err error
	if response.StopReason, err = a.stopReason(); err != nil {
		return nil, err
	}
	return response, nil
}

// stopReason translates the API's stop reason, or returns an error that discards the response.
// docs/models.md has the table.
func (a *answer) stopReason() (model.StopReason, error) {
	switch reason := a.message.StopReason; reason {
	case sdk.StopReasonMaxTokens:
		return model.StopMaxTokens, nil
	case sdk.StopReasonPauseTurn:
		return model.StopPauseTurn, nil
	case sdk.StopReasonRefusal:
		return model.StopRefusal, nil
	case sdk.StopReasonModelContextWindowExceeded:
		return model.StopContextOverflow, nil
	case sdk.StopReasonToolUse, sdk.StopReasonEndTurn, sdk.StopReasonStopSequence, "":
		// Compatible servers use these reasons differently, and some send none before message_stop.
		// Whether the response has calls decides.
		if len(a.calls) > 0 {
			return model.StopToolUse, nil
		}
		return model.StopEndTurn, nil
	default:
		return "", model.UnknownStop(string(reason))
	}
}

// usage counts tokens from the cache and into the cache as input. The API counts them separately.
func (a *answer) usage() tool.Usage {
	u := a.message.Usage
	return tool.Usage{
		InputTokens:      count(u.InputTokens) + count(u.CacheReadInputTokens) + count(u.CacheCreationInputTokens),
		OutputTokens:     count(u.OutputTokens),
		CacheReadTokens:  count(u.CacheReadInputTokens),
		CacheWriteTokens: count(u.CacheCreationInputTokens),
	}
}

func count(tokens int64) uint64 { return uint64(max(0, tokens)) }
