package agent_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

// The user gets the readable part of a direct answer, with a note that says what is missing and
// why. A short outage of toolhost loses nothing. The text for the model stays the same.
func TestDirectAnswerThatCannotBeRead(t *testing.T) {
	whole := strings.Repeat("row\n", 400_000)
	for name, c := range map[string]struct {
		size  int
		read  func(n int) error
		want  string
		exact bool
	}{
		"gone":       {len(whole), func(int) error { return tool.Errorf(tool.KindNotFound, "it was evicted") }, "1599994 of 1600000 bytes are left out here: it was evicted. The whole is artifact h of the session r.", false},
		"away":       {len(whole), func(n int) error { return map[bool]error{true: tool.Errorf(tool.KindUnavailable, "away")}[n%3 == 1] }, whole, true},
		"too large":  {1 << 40, nil, "an answer has at most 16777216 bytes", false},
		"ends early": {len(whole) + 7, func(int) error { return nil }, "the artifact ends after 1600000 bytes", false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tools := newTools(func(_ context.Context, call tool.Call, _ func(tool.Status)) tool.Outcome {
					return tool.Outcome{CallID: call.ID, Result: tool.Result{Content: []tool.Content{{
						Kind: tool.ContentArtifact, Artifact: &tool.Artifact{Handle: "h", MediaType: "text/plain", Size: uint64(c.size), Head: "row", Tail: "ow\n"},
					}}}}
				})
				reads := 0
				f := newFixture(t, turns(response(model.StopToolUse, call("a", "direct"))), tools, func(config *agent.Config) {
					config.ReadArtifact = func(_ context.Context, q tool.ArtifactQuery) (tool.ArtifactPiece, error) {
						if reads++; q.Session != "r" || q.Handle != "h" {
							return tool.ArtifactPiece{}, tool.Errorf(tool.KindNotFound, "no %s in %s", q.Handle, q.Session)
						}
						if err := c.read(reads); err != nil {
							return tool.ArtifactPiece{}, err
						}
						rest := whole[min(int(q.Offset), len(whole)):]
						return tool.ArtifactPiece{Data: []byte(rest[:min(q.Limit, len(rest))])}, nil
					}
				})
				f.start(loop.Task{})
				end := f.end()
				if end.StopReason != loop.StopReturnDirect || !strings.Contains(end.Text, c.want) || c.exact != (end.Text == c.want) || strings.Contains(end.Text, "A tool that takes") {
					t.Errorf("ended with %s: %.300q", end.StopReason, end.Text)
				}
				if _, err := f.SendMessage(t.Context(), "r", "more"); err != nil {
					t.Fatal(err)
				}
				f.watch(uint64(len(durable(f.watch(0)))))
				if seen := f.model.seen(); len(seen) < 2 || len(seen[1].Messages[2].Blocks) == 0 {
					t.Fatalf("the model was asked %d times", len(seen))
				} else if r := seen[1].Messages[2].Blocks[0].ToolResult; r == nil || len(r.Content) != 1 || r.Content[0].Artifact == nil {
					t.Errorf("the model read %.300v", r)
				}
			})
		})
	}
}
