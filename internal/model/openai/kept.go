package openai

import (
	"bytes"
	"encoding/json"

	sdk "github.com/openai/openai-go/v3"

	"github.com/toolhost/toolhost/internal/model"
)

// provider marks the opaque blocks of this provider.
const provider = "openai"

// kept is data that a server wants back with a message that has calls. Other providers cannot use
// it. It is stored as the message's opaque block and returns under the names under which it
// arrived.
type kept struct {
	// ReasoningContent has the model's thoughts. DeepSeek refuses a conversation without the field,
	// even if it is empty. Nil means that the server does not send the field.
	ReasoningContent *string `json:"reasoning_content,omitempty"`
	// Reasoning is the same under the name that OpenRouter, Ollama and others use.
	Reasoning string `json:"reasoning,omitempty"`
	// Details has OpenRouter's reasoning_details, assembled from pieces. If present, they return
	// instead of Reasoning, which has the same content with less detail.
	Details []json.RawMessage `json:"reasoning_details,omitempty"`
	// Extra has the extra_content of each call by index: signatures that Gemini requires. null
	// means that a call has none. Nil means that no call has one.
	Extra []json.RawMessage `json:"extra_content,omitempty"`
}

// block returns the data as a block. It returns false if there is none.
func (k *kept) block() (model.Block, bool) {
	if k.ReasoningContent == nil && k.Reasoning == "" && k.Details == nil && k.Extra == nil {
		return model.Block{}, false
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(k) != nil {
		return model.Block{}, false // encoding decoded JSON cannot fail
	}
	return model.Block{Opaque: &model.Opaque{Provider: provider, JSON: model.CleanJSON(bytes.TrimSpace(out.Bytes()))}}, true
}

// readKept returns the data of this provider in a message.
func readKept(blocks []model.Block) kept {
	var k kept
	for _, block := range blocks {
		if block.Opaque != nil && block.Opaque.Provider == provider && json.Unmarshal(block.Opaque.JSON, &k) != nil {
			return kept{}
		}
	}
	return k
}

// giveBack adds the data to the message that it arrived with.
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
