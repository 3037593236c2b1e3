package arguments_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/text/arguments"
)

var update = flag.Bool("update", false, "write what is answered to testdata/badcalls.txt")

// TestBadCalls checks the answer that a model gets for each call in testdata/badcalls.txt. Each
// call passes through parsing, repair and validation. A line "schema NAME JSON" names a schema, a
// line "call NAME TEXT" is a call, and the lines after it are the answer.
func TestBadCalls(t *testing.T) {
	const file = "testdata/badcalls.txt"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	schemas, calls := map[string]*arguments.Schema{}, 0
	var got strings.Builder
	for line := range strings.Lines(string(data)) {
		switch word, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " "); word {
		case "schema":
			name, text, _ := strings.Cut(rest, " ")
			schemas[name] = compile(t, text)
			got.WriteString(line)
		case "call":
			name, text, _ := strings.Cut(rest, " ")
			if schemas[name] == nil {
				t.Fatalf("there is no schema %q", name)
			}
			calls++
			got.WriteString(line + answer(schemas[name], text) + "\n\n")
		case "#":
			got.WriteString(line)
		}
	}
	if calls < 30 {
		t.Errorf("the file has %d calls", calls)
	}
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(data), got.String()); diff != "" {
		t.Errorf("run the test with -update if the new words are better (-file +now):\n%s", diff)
	}
}

// answer returns the text that a model gets for a call.
func answer(s *arguments.Schema, text string) string {
	p, err := arguments.Parse([]byte(text))
	if err != nil {
		return err.Error()
	}
	repaired, _ := s.Repair(p)
	if err := s.Validate(repaired); err != nil {
		return err.Error()
	}
	return "(fits)"
}
