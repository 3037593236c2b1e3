package arguments_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/text/arguments"
)

// TestFieldArguments runs arguments from bug reports about other products. A case has either the
// arguments that the tool receives, or words that the model reads.
func TestFieldArguments(t *testing.T) {
	data, err := os.ReadFile("testdata/field/arguments.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Source, Input, Right string
		Schema               json.RawMessage
		Text                 string
		Receives             json.RawMessage
		Reads                []string
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.Source+" "+c.Input, func(t *testing.T) {
			got, err := receives(c.Schema, c.Text)
			if err != nil {
				got = err.Error()
			}
			if (err != nil) != (c.Receives == nil) || c.Receives != nil && got != string(c.Receives) {
				t.Errorf("%s: got\n%s", c.Right, got)
			}
			for _, part := range c.Reads {
				if !strings.Contains(got, part) {
					t.Errorf("%s: there is no %q in\n%s", c.Right, part, got)
				}
			}
		})
	}
}

// receives returns the arguments that a tool with a schema receives for a text of a model.
func receives(schema json.RawMessage, text string) (string, error) {
	s, err := arguments.Compile(schema)
	if err != nil {
		return "", err
	}
	p, err := arguments.Parse([]byte(text))
	if err != nil {
		return "", err
	}
	repaired, _ := s.Repair(p)
	return string(repaired.Canonical()), s.Validate(repaired)
}
