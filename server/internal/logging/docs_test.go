package logging_test

import (
	"os"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/logging"
	"github.com/toolhost/toolhost/server/internal/logging/loglevel"
)

// docs/observability.md lists the fixed fields in their order, and the subsystems of both programs.
func TestDocumentation(t *testing.T) {
	text, err := os.ReadFile("../../../docs/observability.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "## Logs\n")
	find := func(row string) {
		t.Helper()
		_, after, found := strings.Cut(rest, row)
		if !found {
			t.Errorf("the documentation lacks, or has at another place, the row %q", row)
			return
		}
		rest = after
	}
	for _, f := range logging.Fields() {
		find("| `" + f.Name + "` | " + f.Meaning + " |")
	}
	for _, f := range logging.LastFields() {
		if !strings.Contains(rest, "`"+f.Name+"`") {
			t.Errorf("the documentation does not name the field %s", f.Name)
		}
	}
	for _, s := range append(loglevel.OfToolhost(), loglevel.OfAgentd()...) {
		find("| `" + s.Name + "` | " + s.Covers + " |\n")
	}
}
