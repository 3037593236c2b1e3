package gemini

import (
	"encoding/base64"
	"encoding/json"

	"google.golang.org/genai"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
)

// A part of a response can have a thought signature: the encrypted reasoning that led to it. Gemini
// 3 and later refuse a conversation in which the first function call of a response has lost its
// signature. A conversation has no parts but blocks, so the signature is an opaque block directly
// before the block that it signs: {"thoughtSignature":"…"}. If the signed part has no other data,
// or data that is not text or a call, the opaque block has the whole part.

// signed returns the JSON of an opaque block that signs the next block.
func signed(signature string) json.RawMessage {
	text, _ := json.Marshal(onlySignature{signature}) // a struct with one string cannot fail
	return text
}

type onlySignature struct {
	Signature string `json:"thoughtSignature"`
}

// signatureOf returns the signature of a part as the server wrote it, or nothing.
func signatureOf(raw json.RawMessage) string {
	var part onlySignature
	_ = json.Unmarshal(raw, &part) // the SDK has decoded it
	return part.Signature
}

// hasData reports whether a part is worth keeping: it has anything but an empty text.
func hasData(raw json.RawMessage) bool {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return false
	}
	if string(fields["text"]) == `""` || string(fields["text"]) == "null" {
		delete(fields, "text")
	}
	return len(fields) > 0
}

// readKept returns the part in an opaque block. next says that the part is only the signature of
// the next block. The part is nil if the block is of another provider or unreadable.
func readKept(block model.Block) (part *genai.Part, next bool) {
	if block.Opaque == nil || block.Opaque.Provider != provider {
		return nil, false
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(block.Opaque.JSON, &part) != nil || part == nil || json.Unmarshal(block.Opaque.JSON, &fields) != nil {
		return nil, false
	}
	return part, len(fields) == 1 && len(part.ThoughtSignature) > 0
}

// unsigned is the signature that the API documents for calls that it did not make itself, such as
// those of a model of another provider.
var unsigned, _ = base64.URLEncoding.DecodeString("skip_thought_signature_validator")

// signFirstCall gives the first call of a response a signature if it has none.
func signFirstCall(parts []*genai.Part) {
	for _, part := range parts {
		if part.FunctionCall != nil {
			if len(part.ThoughtSignature) == 0 {
				part.ThoughtSignature = unsigned
			}
			return
		}
	}
}
