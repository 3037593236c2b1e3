// Package work is the work of every contender. It reads a request of about 200 bytes of JSON and
// answers with a text of the requested size. The work costs little, so the benchmark measures the
// transport.
package work

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Request is the request, as JSON and as arguments of a tool.
type Request struct {
	Size int    `json:"size" jsonschema:"how many bytes the answer has" minimum:"0" maximum:"1048576"`
	Note string `json:"note" jsonschema:"text that is only carried along"`
}

// The measured sizes of answers.
const (
	Small = 1 << 10
	Large = 64 << 10
)

var note = strings.Repeat("all work and no play ", 8)

// Arguments returns a request for an answer of size bytes.
func Arguments(size int) json.RawMessage {
	return fmt.Appendf(nil, `{"size":%d,"note":%q}`, size, note)
}

// answers is the text that answers are cut from, so that building an answer costs nothing.
var answers = strings.Repeat("0123456789abcdef", (1<<20)/16)

// Answer returns the answer to a request.
func (r Request) Answer() string { return answers[:min(max(r.Size, 0), len(answers))] }

// Do answers a request in JSON.
func Do(arguments []byte) (string, error) {
	var r Request
	if err := json.Unmarshal(arguments, &r); err != nil {
		return "", fmt.Errorf("parsing the request: %w", err)
	}
	return r.Answer(), nil
}
