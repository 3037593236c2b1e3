package gemini

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/genai"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

// answer assembles a response from its events. Each event has whole parts: text in pieces, and
// function calls that are complete.
type answer struct {
	blocks []model.Block
	text   *strings.Builder // of the last block, if more text may join it; nil otherwise
	ids    map[string]bool  // of the calls so far
	usage  tool.Usage
	// reason is the last finish reason. Old models repeat STOP in every event.
	reason  genai.FinishReason
	unknown genai.FinishReason // the first reason that the package does not know
	detail  string             // what the server says about the reason
	blocked bool               // the server refused the prompt
	begun   bool               // an event had a candidate or a verdict about the prompt
	kept    int                // bytes of the opaque blocks
}

// rawEvent has the parts of an event as the server wrote them.
type rawEvent struct {
	ResponseID string `json:"responseId"`
	Candidates []struct {
		Content struct {
			Parts []json.RawMessage `json:"parts"`
		} `json:"content"`
		FinishMessage string `json:"finishMessage"`
	} `json:"candidates"`
}

// message returns what the server says about the finish reason. The SDK drops it.
func (r *rawEvent) message() string {
	if len(r.Candidates) == 0 {
		return ""
	}
	return r.Candidates[0].FinishMessage
}

// part returns a part as the server wrote it.
func (r *rawEvent) part(i int) json.RawMessage {
	if len(r.Candidates) == 0 || i >= len(r.Candidates[0].Content.Parts) {
		return nil
	}
	return r.Candidates[0].Content.Parts[i]
}

// add adds the next event and returns the chunks that it yields. raw is the event's text.
func (a *answer) add(event *genai.GenerateContentResponse, text json.RawMessage) ([]model.Chunk, error) {
	if event == nil {
		return nil, malformed(errors.New("an event is empty"))
	}
	a.count(event.UsageMetadata)
	if feedback := event.PromptFeedback; feedback != nil && feedback.BlockReason != "" && feedback.BlockReason != genai.BlockedReasonUnspecified {
		a.blocked, a.begun = true, true
	}
	if len(event.Candidates) == 0 || event.Candidates[0] == nil {
		return nil, nil
	}
	a.begun = true
	candidate := event.Candidates[0]
	var raw rawEvent
	_ = json.Unmarshal(text, &raw) // the SDK has decoded it
	a.finish(candidate.FinishReason, raw.message())
	if candidate.Content == nil {
		return nil, nil
	}
	var chunks []model.Chunk
	for i, part := range candidate.Content.Parts {
		if part == nil {
			continue
		}
		more, err := a.part(part, raw.part(i), raw.ResponseID)
		switch {
		case err != nil:
			return nil, err
		case a.kept > mostKept:
			return nil, tooMuch(part)
		}
		chunks = append(chunks, more...)
	}
	return chunks, nil
}

// part adds one part.
func (a *answer) part(part *genai.Part, raw json.RawMessage, response string) ([]model.Chunk, error) {
	signature := signatureOf(raw)
	switch {
	case part.FunctionCall != nil:
		return a.call(part.FunctionCall, raw, signature, response)
	case part.Thought:
		if signature != "" {
			a.keep(raw)
		}
		if part.Text == "" {
			return nil, nil
		}
		return []model.Chunk{{ReasoningDelta: &model.ReasoningDelta{Text: part.Text}}}, nil
	case part.Text != "":
		if signature != "" {
			// The API asks not to join a signed part with others.
			a.keep(signed(signature))
		}
		a.write(part.Text)
		if signature != "" {
			a.text = nil
		}
		return []model.Chunk{{TextDelta: &model.TextDelta{Text: part.Text}}}, nil
	case hasData(raw):
		a.keep(raw)
	}
	return nil, nil
}

// tooMuch is the error for a response with more than mostKept. It is not retryable: the model would
// answer in the same form.
func tooMuch(part *genai.Part) error {
	kind := "parts that are neither text nor calls"
	if part.InlineData != nil {
		kind = fmt.Sprintf("data of the type %.100q", part.InlineData.MIMEType)
	}
	return &model.Error{Message: fmt.Sprintf("Gemini's response has %s, and agentd keeps at most %d bytes of such data; use a model that answers with text", kind, mostKept)}
}

// write appends text to the last block, or begins a block.
func (a *answer) write(text string) {
	if a.text == nil {
		a.text = &strings.Builder{}
		a.blocks = append(a.blocks, model.Block{Text: &model.Text{}})
	}
	a.text.WriteString(text)
	a.blocks[len(a.blocks)-1].Text.Text = a.text.String()
}

// mostKept limits the parts of a response that only Gemini reads, in bytes. The journal has them,
// and each later request sends them again. Signatures need much less. An image that a model has
// made can be larger, and nothing in agentd reads it.
const mostKept = 1 << 20

// keep adds an opaque block.
func (a *answer) keep(part json.RawMessage) {
	a.text = nil
	a.kept += len(part)
	a.blocks = append(a.blocks, model.Block{Opaque: &model.Opaque{Provider: provider, JSON: part}})
}

// call adds a function call. The API sends all arguments at once.
func (a *answer) call(call *genai.FunctionCall, raw json.RawMessage, signature, response string) ([]model.Chunk, error) {
	if call.Name == "" {
		return nil, malformed(errors.New("a function call came without a name"))
	}
	if signature != "" {
		a.keep(signed(signature))
	}
	a.text = nil
	c := &model.ToolCall{ID: a.id(call.ID, response), Name: call.Name, Arguments: argumentsOf(raw)}
	chunks := []model.Chunk{
		{CallBegun: &model.CallBegun{Index: len(a.ids) - 1, ID: c.ID, Name: c.Name}},
		{ArgumentDelta: &model.ArgumentDelta{Index: len(a.ids) - 1, Text: c.Arguments}},
	}
	a.blocks = append(a.blocks, model.Block{ToolCall: c})
	return chunks, nil
}

// id returns the id of the next call: the server's, unless it is missing or repeated. A generated
// id has the id of the response, so that it is the same whenever the same response is read.
func (a *answer) id(given, response string) string {
	if a.ids == nil {
		a.ids = make(map[string]bool)
	}
	for given == "" || a.ids[given] {
		if response == "" {
			response = rand.Text()
		}
		given = fmt.Sprintf("call_%s_%d", response, len(a.ids))
		response = ""
	}
	a.ids[given] = true
	return given
}

// argumentsOf returns the arguments of a call as the server wrote them. The SDK decodes them into a
// map, which loses the order of keys and the digits of large numbers.
func argumentsOf(raw json.RawMessage) string {
	var part struct {
		FunctionCall struct {
			Args json.RawMessage `json:"args"`
		} `json:"functionCall"`
	}
	if json.Unmarshal(raw, &part) != nil || len(part.FunctionCall.Args) == 0 || string(part.FunctionCall.Args) == "null" {
		return "{}"
	}
	return string(part.FunctionCall.Args)
}

// count reads the usage of the response so far. The API counts cached tokens as part of the prompt,
// and thoughts apart from the text. A later event without a count does not reset it.
func (a *answer) count(usage *genai.GenerateContentResponseUsageMetadata) {
	if usage == nil {
		return
	}
	tokens := func(counts ...int32) (sum uint64) {
		for _, n := range counts {
			sum += uint64(max(0, n))
		}
		return sum
	}
	a.usage.InputTokens = max(a.usage.InputTokens, tokens(usage.PromptTokenCount, usage.ToolUsePromptTokenCount))
	a.usage.OutputTokens = max(a.usage.OutputTokens, tokens(usage.CandidatesTokenCount, usage.ThoughtsTokenCount))
	a.usage.CacheReadTokens = max(a.usage.CacheReadTokens, tokens(usage.CachedContentTokenCount))
}
