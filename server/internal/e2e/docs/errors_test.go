package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

// The tables of errors-and-exit-codes.md match the code.
func TestErrorsAndExitCodes(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root(t), "docs", "errors-and-exit-codes.md"))
	if err != nil {
		t.Fatal(err)
	}
	shown, codes := map[string]string{}, map[string]bool{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, " | ")
		switch first := strings.TrimPrefix(cells[0], "| "); {
		case len(cells) > 1 && strings.HasPrefix(first, "`"):
			shown[strings.Trim(first, "`")] = strings.Trim(cells[1], "`")
		case len(cells) > 1 && len(first) == 1 && first >= "0" && first <= "9":
			codes[first] = true
		}
	}
	want := map[string]string{}
	for _, kind := range []tool.Kind{
		tool.KindInvalidArgument, tool.KindNotFound, tool.KindDenied, tool.KindApprovalRequired, tool.KindRateLimited, tool.KindTimeout,
		tool.KindCancelled, tool.KindCrashed, tool.KindUnavailable, tool.KindOutcomeUnknown, tool.KindConflict, tool.KindUnsupported, tool.KindInternal,
	} {
		want[string(kind)] = toolpb.Code(kind).String()
	}
	if diff := cmp.Diff(want, shown); diff != "" {
		t.Errorf("the kinds and their gRPC codes (-code +page):\n%s", diff)
	}
	for _, code := range []int{cli.ExitOK, cli.ExitToolError, cli.ExitUsage, cli.ExitInfrastructure, cli.ExitNoServer} {
		if digit := string(rune('0' + code)); !codes[digit] {
			t.Errorf("the page does not say what exit code %s means", digit)
		}
	}
}
