package conformance_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/conformance"
)

// TestDocumentation checks that the table of docs/verify.md lists all checks with their titles.
func TestDocumentation(t *testing.T) {
	text, err := os.ReadFile("../../docs/verify.md")
	if err != nil {
		t.Fatal(err)
	}
	for id, title := range conformance.Titles() {
		if row := fmt.Sprintf("| `%s` | %s |", id, title); !strings.Contains(string(text), row) {
			t.Errorf("docs/verify.md lacks the line\n%s", row)
		}
	}
}
