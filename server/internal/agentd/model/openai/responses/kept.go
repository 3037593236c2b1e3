package responses

import (
	"bytes"
	"encoding/json"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/model/openai/wire"
)

// provider marks the opaque blocks of this provider.
const provider = "openai-responses"

// The types of kept items.
const (
	keptReasoning = "reasoning"
	keptMessage   = "message"
)

// kept is what the server wants back with a message. It is stored as an opaque block before the
// text or the call that it belongs to.
//
// Reasoning returns as the item that the server sent, with its encrypted content. Its status stays
// away, because the server refuses it in requests. A message has only its phase here: newer models
// lose quality if the phase of their earlier messages is missing.
type kept struct {
	Type             string          `json:"type"`
	ID               string          `json:"id,omitempty"`
	Summary          json.RawMessage `json:"summary,omitempty"`
	Content          json.RawMessage `json:"content,omitempty"`
	EncryptedContent string          `json:"encrypted_content,omitempty"`
	Phase            string          `json:"phase,omitempty"`
}

// reasoningOf returns the reasoning of an item. It returns false if the server cannot use it later:
// it is neither encrypted nor readable.
func reasoningOf(i *item) (kept, bool) {
	k := kept{Type: keptReasoning, ID: string(i.ID), Summary: i.Summary, EncryptedContent: string(i.EncryptedContent)}
	if len(i.parts(i.Content)) > 0 {
		k.Content = i.Content
	}
	if !isList(k.Summary) {
		k.Summary = json.RawMessage("[]")
	}
	return k, k.EncryptedContent != "" || k.Content != nil
}

func isList(data json.RawMessage) bool {
	var list []json.RawMessage
	return json.Unmarshal(data, &list) == nil && list != nil
}

func (k kept) block() model.Block {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	// Encoding decoded JSON cannot fail.
	_ = encoder.Encode(k)
	return model.Block{Opaque: &model.Opaque{Provider: provider, JSON: model.CleanJSON(bytes.TrimSpace(out.Bytes()))}}
}

// readKept returns what a block keeps for this provider. It returns the zero value for other
// blocks.
func readKept(block model.Block) kept {
	var k kept
	if block.Opaque == nil || block.Opaque.Provider != provider || json.Unmarshal(block.Opaque.JSON, &k) != nil {
		return kept{}
	}
	return k
}

// phaseOf returns a phase that the API accepts in requests, or an empty text.
func phaseOf(phase wire.Text) string {
	switch phase {
	case "commentary", "final_answer":
		return string(phase)
	}
	return ""
}
