package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// Transcripts cannot contain Markdown, because its headings would be comments.
func TestMarkdown(t *testing.T) {
	addr, _ := start(t)
	env := map[string]string{"TOOLHOST_ADDR": addr.String()}
	code, stdout, stderr := toolhost(t.Context(), env, "", "tools", "render", "--format", "markdown", "--category", "suite", "--tag", "calm", "--dangerous=false", "--max", "2")
	want := `## echo

The tool echo of the conformance suite.

Arguments:

- ` + "`text`" + ` (string, required)

## fail

The tool fail of the conformance suite.

Arguments:

- ` + "`message`" + ` (string, required)
`
	if code != cli.ExitOK || stderr != "" {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if diff := cmp.Diff(want, stdout); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFormatsAreCompleted(t *testing.T) {
	code, stdout, _ := toolhost(t.Context(), nil, "", "__complete", "tools", "render", "--format", "")
	if want := "openai\nopenai-responses\nanthropic\ngemini\nmcp\nmarkdown\n:4\n"; code != cli.ExitOK || stdout != want {
		t.Errorf("exit %d, %q", code, stdout)
	}
}
