package openai

import (
	"bytes"
	"encoding/json"

	sdk "github.com/openai/openai-go/v3"

	"github.com/toolhost/toolhost/internal/model"
)

// provider marks the opaque blocks that are ours.
const provider = "openai"

// kept is what a server wants to have back with a message that has calls, and what means nothing to anybody else. It
// travels as the message's opaque block, and goes back under the names under which it came.
type kept struct {
	// ReasoningContent is what the model thought. DeepSeek refuses a conversation in which it is missing, even where it
	// is empty. Nil: the server has no such field.
	ReasoningContent *string `json:"reasoning_content,omitempty"`
	// Reasoning is the same by another name, of OpenRouter, Ollama and others.
	Reasoning string `json:"reasoning,omitempty"`
	// Details are OpenRouter's reasoning_details, the pieces of each put together. Where they are, they go back instead of
	// Reasoning, which says the same with less.
	Details []json.RawMessage `json:"reasoning_details,omitempty"`
	// Extra is the extra_content of each call, by its place: the signatures that Gemini insists on. Null where there is
	// none; nil where no call has one.
	Extra []json.RawMessage `json:"extra_content,omitempty"`
}

// block returns what is kept as a block; false if nothing is.
func (k *kept) block() (model.Block, bool) {
	if k.ReasoningContent == nil && k.Reasoning == "" && k.Details == nil && k.Extra == nil {
		return model.Block{}, false
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(k) != nil {
		return model.Block{}, false // what came as JSON can be written as JSON
	}
	return model.Block{Opaque: &model.Opaque{Provider: provider, JSON: model.CleanJSON(bytes.TrimSpace(out.Bytes()))}}, true
}

// readKept returns what is kept in a message.
func readKept(blocks []model.Block) kept {
	var k kept
	for _, block := range blocks {
		if block.Opaque != nil && block.Opaque.Provider == provider && json.Unmarshal(block.Opaque.JSON, &k) != nil {
			return kept{}
		}
	}
	return k
}

// giveBack puts what was kept into the message that it came with.
func (k *kept) giveBack(message *sdk.ChatCompletionAssistantMessageParam) {
	fields := make(map[string]any)
	if k.ReasoningContent != nil {
		fields["reasoning_content"] = *k.ReasoningContent
	}
	switch {
	case k.Details != nil:
		fields["reasoning_details"] = k.Details
	case k.Reasoning != "":
		fields["reasoning"] = k.Reasoning
	}
	if len(fields) > 0 {
		message.SetExtraFields(fields)
	}
	for i := range min(len(k.Extra), len(message.ToolCalls)) {
		if extra := k.Extra[i]; !absent(extra) {
			message.ToolCalls[i].OfFunction.SetExtraFields(map[string]any{"extra_content": extra})
		}
	}
}

func absent(value json.RawMessage) bool {
	return len(value) == 0 || bytes.Equal(value, []byte("null"))
}
