package openai

import (
	"bytes"
	"encoding/json"
	"slices"

	sdk "github.com/openai/openai-go/v3"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
)

// provider marks the opaque blocks of this provider.
const provider = "openai"

// kept is data that a server wants back with a message. Other servers cannot use it, and some
// refuse a request with it. It is stored as the message's opaque block and returns to its server
// under the names under which it arrived, once the conversation has calls. Without calls no server
// requires it, and DeepSeek's older models refuse it.
type kept struct {
	// Server is the name of the host that sent the data. Data of older versions has none, and returns
	// to every server.
	Server string `json:"server,omitempty"`
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

// readKept returns the data of a server in a message.
func readKept(server string, blocks []model.Block) kept {
	for _, block := range blocks {
		if block.Opaque == nil || block.Opaque.Provider != provider {
			continue
		}
		var k kept
		if json.Unmarshal(block.Opaque.JSON, &k) == nil && (k.Server == "" || k.Server == server) {
			return k
		}
	}
	return kept{}
}

// readAllKept returns what each message of a conversation needs, by index. It is nil without calls.
// If one message has ReasoningContent, every message of the model needs the field: those of other
// models, and those that an older version stored without it, get an empty one.
func readAllKept(server string, conversation []model.Message) []kept {
	calls, named := false, false
	all := make([]kept, len(conversation))
	for i := range conversation {
		blocks := conversation[i].Blocks
		all[i] = readKept(server, blocks)
		named = named || all[i].ReasoningContent != nil
		calls = calls || slices.ContainsFunc(blocks, func(b model.Block) bool { return b.ToolCall != nil })
	}
	if !calls {
		return nil
	}
	for i := range all {
		if named && all[i].ReasoningContent == nil {
			all[i].ReasoningContent = new(string)
		}
	}
	return all
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
