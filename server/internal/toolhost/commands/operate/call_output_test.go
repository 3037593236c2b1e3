package operate

import (
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

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
