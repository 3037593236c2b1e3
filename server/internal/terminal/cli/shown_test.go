package cli_test

import (
	"testing"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

func TestShown(t *testing.T) {
	for name, test := range map[string]struct {
		content     []tool.Content
		text, facts string
	}{
		"what a command printed": {
			[]tool.Content{tool.JSON([]byte(`{"exit_code":3,"signal":"TERM","timed_out":true}`)), tool.Text("printed\n")},
			"printed\n", "exit code 3, signal TERM, timed out true",
		},
		"one labeled output": {
			[]tool.Content{tool.JSON([]byte(`{"exit_code":0}`)), tool.Text("stdout:"), tool.Text("printed\n")}, "printed\n", "exit code 0",
		},
		"two labeled outputs": {
			[]tool.Content{tool.JSON([]byte(`{"exit_code":1}`)), tool.Text("stdout:"), tool.Text("printed\n"), tool.Text("stderr:"), tool.Text("failed\n")},
			"stdout:\nprinted\n\nstderr:\nfailed\n", "exit code 1",
		},
		"nothing but facts":  {[]tool.Content{tool.JSON([]byte(`{"exit_code":0}`))}, `{"exit_code":0}`, ""},
		"rows and a note":    {[]tool.Content{tool.JSON([]byte(`[{"a":1}]`)), tool.Text("[1 row]")}, "[{\"a\":1}]\n[1 row]", ""},
		"an object of lists": {[]tool.Content{tool.JSON([]byte(`{"rows":[1]}`)), tool.Text("x")}, "{\"rows\":[1]}\nx", ""},
		"no JSON":            {[]tool.Content{tool.JSON([]byte(`{bad`)), tool.Text("x")}, "{bad\nx", ""},
		"text alone":         {[]tool.Content{tool.Text("a"), tool.Text("b")}, "a\nb", ""},
		"none":               {nil, "", ""},
	} {
		text, facts := cli.Shown(&tool.Result{Content: test.content})
		if text != test.text || facts != test.facts {
			t.Errorf("%s: %q and %q, want %q and %q", name, text, facts, test.text, test.facts)
		}
	}
}
