package tool_test

import (
	"testing"

	"github.com/toolhost/toolhost/tool"
)

func TestArtifactsAsText(t *testing.T) {
	const advice = "A tool that takes the handle of an artifact can be given it, to read the rest or to work with the whole.]"
	for name, test := range map[string]struct {
		artifact *tool.Artifact
		want     string
	}{
		"text": {&tool.Artifact{Handle: "artifact-1", MediaType: "text/plain", Size: 1000, Head: "first\n", Tail: "last"},
			"first\n[Here 990 of 1000 bytes are not shown. The whole is kept as artifact artifact-1. " + advice + "\nlast"},
		"one line": {&tool.Artifact{Handle: "artifact-1", MediaType: "text/plain", Size: 1000, Head: "first"},
			"first\n[Here 995 of 1000 bytes are not shown. The whole is kept as artifact artifact-1. " + advice + "\n"},
		"a file": {&tool.Artifact{Handle: "artifact-1", MediaType: "application/pdf", Name: "a.pdf", Size: 1000},
			"[content, a.pdf, application/pdf, 1000 bytes, not shown: it is kept as artifact artifact-1. " + advice},
		"a size that is a lie": {&tool.Artifact{Handle: "artifact-1", Size: 2, Head: "first\n"},
			"first\n[Here 0 of 2 bytes are not shown. The whole is kept as artifact artifact-1. " + advice + "\n"},
		"nothing": {nil, "[artifact]"},
	} {
		r := tool.Result{Content: []tool.Content{{Kind: tool.ContentArtifact, Artifact: test.artifact}}}
		if got := r.Text(); got != test.want {
			t.Errorf("%s:\n got %q\nwant %q", name, got, test.want)
		}
	}
}
