package operate

import (
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

// A call that is held is approved by its decision, and never by a repeat of the caller.
func TestAdviceAboutApprovals(t *testing.T) {
	const held = "pay needs two; `toolhost approvals approve calls/a` approves it"
	for name, test := range map[string]struct {
		failed tool.Error
		want   string
	}{
		"not held":               {tool.Error{Message: "pay", Arguments: []byte(`{"a":1}`), ArgumentsSHA256: "5e"}, "pay\nIt would be executed with these arguments:\n  {\"a\":1}\nTo approve exactly these, repeat the command with --approve=5e"},
		"not held, not shown":    {tool.Error{Message: "pay"}, "pay; `toolhost call --approve` approves it"},
		"held":                   {tool.Error{Message: held, Decision: "calls/a", Arguments: []byte(`{"a":1}`), ArgumentsSHA256: "5e"}, held + "\nIt would be executed with these arguments:\n  {\"a\":1}"},
		"held, without a digest": {tool.Error{Message: held, Decision: "calls/a"}, held},
	} {
		test.failed.Kind = tool.KindApprovalRequired
		if got := explained(&test.failed).Error(); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestWhatAPluginCallsJSONNeedNotBe(t *testing.T) {
	blocks := []tool.Content{tool.JSON([]byte(`{bad`)), tool.JSON([]byte(`{}`))}
	var b strings.Builder
	if err := cli.WriteJSON(&b, viewOutcome("", tool.Outcome{Result: tool.Result{Content: blocks}})); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), `"content":[{"kind":"text","text":"{bad"},{"kind":"json","json":{}}]`) {
		t.Errorf("got %s", b.String())
	}
	if string(blocks[0].JSON) != `{bad` {
		t.Error("the result itself was changed")
	}
}
