package scripted_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

// A request for a summary receives the next summary. The turns then continue after the summarized
// part.
func TestSummaries(t *testing.T) {
	m := parse(t, `
summaries:
  - error: {status: 503}
    usage: {input: 5}
  - text: 'short: {{prompt}}'
    usage: {input: 7, output: 2}
turns: [{text: one}, {text: two}, {text: three}]
`)
	summary := asked("sum up")
	summary.Summary = 1
	_, _, err := generate(t.Context(), m, summary)
	failure, ok := errors.AsType[*model.Error](err)
	if !ok || failure.Status != 503 || failure.Usage.InputTokens != 5 {
		t.Errorf("first %v", err)
	}
	_, response, err := generate(t.Context(), m, summary)
	if err != nil || response.Message.Blocks[0].Text.Text != "short: sum up" {
		t.Fatalf("got %+v, %v", response, err)
	}
	if diff := cmp.Diff(tool.Usage{InputTokens: 7, OutputTokens: 2}, response.Usage); diff != "" {
		t.Error(diff)
	}
	summary.Summary = 2
	if _, _, err := generate(t.Context(), m, summary); err == nil || !strings.Contains(err.Error(), "no summary 2") {
		t.Errorf("the second summary: %v", err)
	}
	short := asked("short")
	short.Replaced = 2
	if text, _, err := generate(t.Context(), m, short); err != nil || text != "three" {
		t.Errorf("after the summary: %q, %v", text, err)
	}
	short.Replaced = 3
	if _, _, err := generate(t.Context(), m, short); err == nil || !strings.Contains(err.Error(), "ends before turn 4") {
		t.Errorf("after the last: %v", err)
	}
}
