// Package work is what every contender of the benchmark does: it takes a request of some two hundred bytes of JSON and
// answers with a text of the size that it names. So what is measured is the way there and back.
package work

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Request is what is asked, as JSON and as the arguments of a tool.
type Request struct {
	Size int    `json:"size" jsonschema:"how many bytes the answer has" minimum:"0" maximum:"1048576"`
	Note string `json:"note" jsonschema:"text that is only carried along"`
}

// The answers' sizes that are measured.
const (
	Small = 1 << 10
	Large = 64 << 10
)

var note = strings.Repeat("all work and no play ", 8)

// Arguments returns the request for an answer of size bytes.
func Arguments(size int) json.RawMessage {
	return fmt.Appendf(nil, `{"size":%d,"note":%q}`, size, note)
}

// answers are cut from one text, so that making them costs nobody anything.
var answers = strings.Repeat("0123456789abcdef", (1<<20)/16)

// Answer returns the text that answers the request.
func (r Request) Answer() string { return answers[:min(max(r.Size, 0), len(answers))] }

// Do answers a request that is JSON.
func Do(arguments []byte) (string, error) {
	var r Request
	if err := json.Unmarshal(arguments, &r); err != nil {
		return "", fmt.Errorf("parsing the request: %w", err)
	}
	return r.Answer(), nil
}
