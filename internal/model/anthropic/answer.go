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
	texts   map[int64]*text // by the index of their block: the SDK's own lose characters that two events share
	begun   bool            // there was an event
	stopped bool            // message_stop was seen
}

type call struct {
	index     int
	whole     string // arguments that came with the block's start, as some compatible servers send them
	arguments strings.Builder
	joiner    model.Joiner
}

type text struct {
	said   strings.Builder
	joiner model.Joiner
}

func (t *text) add(piece string) []model.Chunk {
	if piece == "" {
		return nil
	}
	t.said.WriteString(piece)
	return []model.Chunk{{TextDelta: &model.TextDelta{Text: piece}}}
}

// unquoted returns the text of a field, in the form of model.Unquote; or what the SDK has made of it, if it is no string.
func unquoted(raw, decoded string) string {
	if said, err := model.Unquote([]byte(raw)); err == nil && strings.HasPrefix(raw, `"`) {
		return said
	}
	return decoded
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
		if a.texts == nil {
			a.texts = make(map[int64]*text)
		}
		t := &text{}
		a.texts[event.Index] = t
		return t.add(t.joiner.Add(unquoted(block.JSON.Text.Raw(), block.Text))), nil
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
	}
	return nil
}

func (a *answer) stop(block int64) []model.Chunk {
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
			if t := a.texts[int64(i)]; t != nil && t.said.Len() > 0 {
				response.Message.Blocks = append(response.Message.Blocks, model.Block{Text: &model.Text{Text: t.said.String()}})
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
			response.Message.Blocks = append(response.Message.Blocks, model.Block{Opaque: &model.Opaque{Provider: provider, JSON: model.CleanJSON(raw)}})
		}
	}
	var err error
	if response.StopReason, err = a.stopReason(); err != nil {
		return nil, err
	}
	return response, nil
}

// stopReason returns what the API's stop reason means, or why nothing may be made of the response. docs/models.md has the
// table.
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
		// Compatible servers differ in which of these they say, and some say none before message_stop: the calls decide.
		if len(a.calls) > 0 {
			return model.StopToolUse, nil
		}
		return model.StopEndTurn, nil
	default:
		return "", model.UnknownStop(string(reason))
	}
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
