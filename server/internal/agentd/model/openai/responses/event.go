package responses

import (
	"encoding/json"
	"strings"

	"github.com/toolhost/toolhost/server/internal/agentd/model/openai/wire"
	"github.com/toolhost/toolhost/tool"
)

// event is one event of a stream, with the fields that this package uses.
type event struct {
	Type         string          `json:"type"`
	Object       string          `json:"object"` // "response" if the server does not stream
	OutputIndex  *int            `json:"output_index"`
	ItemID       wire.Text       `json:"item_id"`
	ContentIndex int             `json:"content_index"`
	SummaryIndex int             `json:"summary_index"`
	Delta        wire.Text       `json:"delta"`
	Text         wire.Text       `json:"text"`
	Refusal      wire.Text       `json:"refusal"`
	Name         wire.Text       `json:"name"`
	Arguments    wire.Text       `json:"arguments"`
	Item         *item           `json:"item"`
	Response     *result         `json:"response"`
	Error        json.RawMessage `json:"error"`
}

// item is an item of the output.
type item struct {
	Type             string          `json:"type"`
	ID               wire.Text       `json:"id"`
	CallID           wire.Text       `json:"call_id"`
	Name             wire.Text       `json:"name"`
	Arguments        wire.Text       `json:"arguments"`
	Phase            wire.Text       `json:"phase"`
	Content          json.RawMessage `json:"content"`
	Summary          json.RawMessage `json:"summary"`
	EncryptedContent wire.Text       `json:"encrypted_content"`
}

// part is a part of a message or of reasoning.
type part struct {
	Type    string    `json:"type"`
	Text    wire.Text `json:"text"`
	Refusal wire.Text `json:"refusal"`
}

// parts returns the parts in a list, or nil if it is missing or in an unknown form.
func (i *item) parts(list json.RawMessage) []part {
	var parts []part
	if json.Unmarshal(list, &parts) != nil {
		return nil
	}
	return parts
}

// text returns the text of a message.
func (i *item) text() wire.Text {
	var all wire.Text
	for _, p := range i.parts(i.Content) {
		all += p.Text + p.Refusal
	}
	return all
}

// thoughts returns the text of reasoning that the server shows.
func (i *item) thoughts() string {
	var texts []string
	for _, list := range []json.RawMessage{i.Summary, i.Content} {
		for _, p := range i.parts(list) {
			if p.Text != "" {
				texts = append(texts, string(p.Text))
			}
		}
	}
	return strings.Join(texts, "\n\n")
}

// result is a response as far as the server has got.
type result struct {
	Status     string          `json:"status"`
	Error      json.RawMessage `json:"error"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Output []*item `json:"output"`
	Usage  *usage  `json:"usage"`
}

type usage struct {
	InputTokens  int64 `json:"input_tokens"`
	OutputTokens int64 `json:"output_tokens"` // includes reasoning
	Details      struct {
		CachedTokens     int64 `json:"cached_tokens"`
		CacheWriteTokens int64 `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
}

func (u *usage) tokens() tool.Usage {
	return tool.Usage{
		InputTokens: wire.Count(u.InputTokens), OutputTokens: wire.Count(u.OutputTokens),
		CacheReadTokens: wire.Count(u.Details.CachedTokens), CacheWriteTokens: wire.Count(u.Details.CacheWriteTokens),
	}
}

func absent(value json.RawMessage) bool { return len(value) == 0 || string(value) == "null" }
