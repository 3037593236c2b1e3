package conformance_test

import (
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/conformance"
)

// TestDocumentation checks that the table of docs/verify.md lists all checks with their titles.
func TestDocumentation(t *testing.T) {
	text, err := os.ReadFile("../../../../docs/verify.md")
	if err != nil {
		t.Fatal(err)
	}
	titles := conformance.Titles()
	maps.Copy(titles, conformance.MCPTitles())
	for id, title := range titles {
		if row := fmt.Sprintf("| `%s` | %s |", id, title); !strings.Contains(string(text), row) {
			t.Errorf("docs/verify.md lacks the line\n%s", row)
		}
	}
}
