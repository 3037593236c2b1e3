package catalog

import (
	"encoding/json"
	"strings"
	"testing"
)

// What is wrong with a result as a whole is not said of arguments.
func TestErrorsOfResultsSpeakOfTheResult(t *testing.T) {
	schema := &Schema{text: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"},"arguments":{"type":"string"}},"additionalProperties":false}`)}
	for value, want := range map[string]string{
		`[]`:                "- the result: must be ",
		`{"b":1}`:           "- the result: ",
		`{"a":1}`:           "- a: must be ",
		`{"arguments":1}`:   "- arguments: must be ",
		`null`:              "- the result: must be ",
		`{"a":"x"}`:         "",
		`{"a":"x"} and on`:  "it is not usable JSON",
		`{"arguments":"x"}`: "",
	} {
		err := schema.ValidateResult(json.RawMessage(value))
		if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got %v", value, err)
		}
	}
}
