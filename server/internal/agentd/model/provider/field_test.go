package provider_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/model/provider"
	"github.com/toolhost/toolhost/server/internal/agentd/model/wiretest"
)

// minted is the form of the ids that toolhost gives to calls without one.
var minted = regexp.MustCompile(`call_[A-Z2-7]{26}|[A-Z2-7]{26}`)

// TestFieldStreams runs streams from bug reports about other products. A string in Events is sent
// as it is if it has a line break. It is the data of an event otherwise, like any other value.
func TestFieldStreams(t *testing.T) {
	data, err := os.ReadFile("testdata/field/streams.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Source, Input, Right, API string
		Events                    []json.RawMessage
		Want                      []string
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.Source+" "+c.Input, func(t *testing.T) {
			var body strings.Builder
			for _, event := range c.Events {
				body.WriteString(sent(event))
			}
			for _, piece := range []int{0, 3} {
				server := wiretest.Serve(t, wiretest.Reply{Body: body.String(), Piece: piece})
				m, err := provider.Open(provider.Choice{Model: c.API + ":m", BaseURL: server.URL, HTTPClient: server.Client})
				if err != nil {
					t.Fatal(err)
				}
				got := outcome(wiretest.Check(t, m.Generate(t.Context(), wiretest.Hello())))
				if diff := cmp.Diff(c.Want, got); diff != "" {
					t.Errorf("%s %d bytes at a time (-want +got):\n%s", c.Right, piece, diff)
				}
			}
		})
	}
}

// sent returns the lines of an event. Its type, if it has one, is also that of the event.
func sent(event json.RawMessage) string {
	var text string
	var typed struct{ Type string }
	if json.Unmarshal(event, &text) != nil || text == "" {
		text = string(event)
	}
	if strings.Contains(text, "\n") {
		return text
	}
	if _ = json.Unmarshal(event, &typed); typed.Type != "" {
		return "event: " + typed.Type + "\ndata: " + text + "\n\n"
	}
	return "data: " + text + "\n\n"
}

// outcome returns what the agent gets from a stream: thoughts, each block, the reason of the end,
// and the usage if there is one; or the error.
func outcome(chunks iter.Seq2[model.Chunk, error]) (lines []string) {
	thoughts := ""
	for chunk, err := range chunks {
		if e, ok := errors.AsType[*model.Error](err); ok {
			return []string{fmt.Sprintf("error, retryable %t: %s", e.Retryable, e.Message)}
		}
		if chunk.ReasoningDelta != nil {
			thoughts += chunk.ReasoningDelta.Text
		}
		if chunk.Response == nil {
			continue
		}
		if thoughts != "" {
			lines = append(lines, "thoughts "+thoughts)
		}
		for _, block := range chunk.Response.Message.Blocks {
			switch {
			case block.Text != nil:
				lines = append(lines, "text "+block.Text.Text)
			case block.ToolCall != nil:
				call := block.ToolCall
				lines = append(lines, minted.ReplaceAllString(call.ID, "minted")+" "+call.Name+" "+call.Arguments)
			}
		}
		lines = append(lines, string(chunk.Response.StopReason))
		if used := chunk.Response.Usage; used.InputTokens+used.OutputTokens > 0 {
			lines = append(lines, fmt.Sprintf("used %d, %d", used.InputTokens, used.OutputTokens))
		}
	}
	return lines
}
