package anthropic

import (
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/toolhost/toolhost/internal/model"
	"github.com/toolhost/toolhost/tool"
)

// answer is a response as its events build it up.
type answer struct {
	message sdk.Message     // all but the arguments of calls, of which the SDK drops those that are no JSON
	calls   map[int64]*call // by the index of their block
	begun   bool            // there was an event
	stopped bool            // message_stop was seen
}

type call struct {
	index     int
	whole     string // arguments that came with the block's start, as some compatible servers send them
	arguments strings.Builder
}

// add takes the next event and returns what it is to whoever watches.
func (a *answer) add(event sdk.MessageStreamEventUnion) ([]model.Chunk, error) {
	a.begun = true
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
		if block.Text != "" {
			return []model.Chunk{{TextDelta: &model.TextDelta{Text: block.Text}}}, nil
		}
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
		if event.Delta.Text != "" {
			return []model.Chunk{{TextDelta: &model.TextDelta{Text: event.Delta.Text}}}
		}
	case "input_json_delta":
		if c := a.calls[event.Index]; c != nil {
			return c.add(event.Delta.PartialJSON)
		}
	}
	return nil
}

func (a *answer) stop(block int64) []model.Chunk {
	c := a.calls[block]
	if c == nil || c.arguments.Len() > 0 || c.whole == "null" {
		return nil
	}
	// No delta came, so the start had it all: as a rule {}, for a call without arguments.
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
			if block.Text != "" {
				response.Message.Blocks = append(response.Message.Blocks, model.Block{Text: &model.Text{Text: block.Text}})
			}
		case "tool_use":
			response.Message.Blocks = append(response.Message.Blocks, model.Block{ToolCall: &model.ToolCall{
				ID: block.ID, Name: block.Name, Arguments: a.calls[int64(i)].arguments.String(),
			}})
		default:
			if block.Type == "thinking" && block.Signature == "" {
				continue // cut off by the token limit: unsigned thinking is refused when it is sent back
			}
			raw := json.RawMessage(block.RawJSON())
			if !json.Valid(raw) {
				return nil, malformed(fmt.Errorf("a block of type %q is no JSON", block.Type))
			}
			response.Message.Blocks = append(response.Message.Blocks, model.Block{Opaque: &model.Opaque{Provider: provider, JSON: raw}})
		}
	}
	response.StopReason = a.stopReason()
	return response, nil
}

func (a *answer) stopReason() model.StopReason {
	switch a.message.StopReason {
	case sdk.StopReasonMaxTokens:
		return model.StopMaxTokens
	case sdk.StopReasonPauseTurn:
		return model.StopPauseTurn
	case sdk.StopReasonRefusal:
		return model.StopRefusal
	case sdk.StopReasonModelContextWindowExceeded:
		return model.StopContextOverflow
	}
	// tool_use, end_turn, stop_sequence, and whatever else a server may say: the calls decide.
	if len(a.calls) > 0 {
		return model.StopToolUse
	}
	return model.StopEndTurn
}

// usage counts what came from the cache and what went into it among the input, which the API does not.
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
