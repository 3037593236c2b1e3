package textform_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
)

// fragments are pieces of responses. Random texts rarely have tags, so that a fuzz test alone would
// rarely reach the inside of a call.
var fragments = []string{
	`<use_tool name="write">`, `<use_tool name="now"/>`, `</use_tool>`, `<tool_arg name="content">`, `<tool_arg name="tags">`,
	`<tool_arg name="note">`, `<tool_arg name="free"/>`, `</tool_arg>`, `<tool_result name="now">`, `</tool_result>`, `<think>`, `</think>`,
	"```", "`", "~~~", "\n", " ", "text", "nul", "null", `["a"]`, `{"a":`, "1", "&", "&lt;", "&amp;", "amp;", "lt;/tool_arg>", "<", "</", "é", "\xff", "\x00",
}

// Whatever pieces follow each other, the result does not depend on how the text is split, and there
// are at most as many executed calls as closed ones.
func TestFragments(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	req := model.Request{Tools: tools()}
	executed := 0
	for range 500 {
		var b strings.Builder
		if r.IntN(2) == 0 {
			b.WriteString(fragments[0] + fragments[3+r.IntN(3)])
		}
		for range r.IntN(14) {
			b.WriteString(fragments[r.IntN(len(fragments))])
		}
		if r.IntN(2) == 0 {
			b.WriteString("</tool_arg>\n</use_tool>")
		}
		written := b.String()
		whole, response := stream(t, wrap(writer{text: written, stop: model.StopEndTurn}), req)
		split, _ := stream(t, wrap(writer{text: written, size: 1 + r.IntN(4), stop: model.StopEndTurn}), req)
		if diff := cmp.Diff(whole, split); diff != "" {
			t.Fatalf("seed %d: %q (-whole +split):\n%s", seed, written, diff)
		}
		n := len(executedOf(response))
		if closed := strings.Count(written, "</use_tool>") + strings.Count(written, "/>"); n > closed {
			t.Fatalf("seed %d: %q: %d calls are executed, %d are closed", seed, written, n, closed)
		}
		executed += n
	}
	if executed == 0 {
		t.Errorf("seed %d: no call was executed, so that the test shows nothing", seed)
	}
}
