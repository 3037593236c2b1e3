//go:build more

package languages

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
)

// testCase is one call of the table. The callers read it as JSON.
type testCase struct {
	Name          string                     `json:"name"`
	Tool          string                     `json:"tool"`
	Arguments     string                     `json:"arguments,omitempty"`
	Pieces        []piece                    `json:"pieces,omitempty"` // replaces Arguments
	CallID        string                     `json:"call_id,omitempty"`
	TimeoutMS     int                        `json:"timeout_ms,omitempty"`
	Context       map[string]json.RawMessage `json:"context,omitempty"`
	MaxShownBytes int                        `json:"max_shown_bytes"`
	// The caller cancels the call with this reason at each status, also if the call has just ended.
	Cancel string `json:"cancel,omitempty"`
}

// piece is a part of the argument text. If Await is not empty, the caller waits for a status with
// this text before it continues.
type piece struct {
	Bytes []byte `json:"bytes"`
	Await string `json:"await,omitempty"`
}

// everything is the limit of shown bytes for cases without a limit.
const everything = math.MaxInt32

const (
	// unicode contains letters outside of the basic plane, of several code points, right to left
	// and invisible, and characters that some JSON encoders escape.
	unicode = `naïve 漢字 😀 👩‍👩‍👧 e\u0301 שלום \u202e\ufeff <a & b> \u2028\u2029 \u0000\u0001\u007f \"\\\/ 𝒳`
	pair    = `\ud83d\ude00`
)

// cases returns the table. The order matters only for calls with the same id.
func cases() []testCase {
	table := []testCase{
		{Name: "unicode text", Tool: "say", Arguments: `{"text":"` + unicode + pair + `"}`},
		{Name: "unicode as JSON, byte for byte", Tool: "echo", Arguments: `{"text":"` + unicode + pair + `","ключ 😀":"` + unicode + `"}`},
		{Name: "empty text", Tool: "say", Arguments: `{"text":""}`},
		{Name: "lines of text", Tool: "say", Arguments: `{"text":"\na\r\n\tb\n\n"}`},
		{Name: "empty object", Tool: "echo", Arguments: `{}`},
		{Name: "no arguments", Tool: "echo"},
		{Name: "spaces in JSON", Tool: "echo", Arguments: "{ \"a\" :\t[ 1,\n 2 ] , \"b\" : { } }"},
		{Name: "nested JSON", Tool: "echo", Arguments: strings.Repeat(`{"a":[`, 60) + `"deep"` + strings.Repeat(`]}`, 60)},
		{Name: "numbers as JSON bytes", Tool: "echo", Arguments: `{"n":[9007199254740993,-18446744073709551616,123456789012345678901234567890,` +
			`1e308,-0,-0.0,1.50,1E5,0.1000,3.141592653589793238462643383279,5e-324]}`},
		{Name: "a key twice", Tool: "echo", Arguments: `{"a":1,"b":2,"b":3}`},
		{Name: "a value of the language", Tool: "value"},
		{Name: "nothing", Tool: "nothing"},
		{Name: "large arguments and result", Tool: "say", Arguments: `{"text":"` + strings.Repeat("0123456789 äöü € 😀 ", 3<<20/25) + `"}`},
		{Name: "large JSON", Tool: "echo", Arguments: `{"list":[` + strings.Repeat("12345.67890,", 100_000) + `0]}`},
		{Name: "large result", Tool: "repeat", Arguments: `{"unit":"wörter ","times":400000}`},
		{Name: "a result that is not shown whole", Tool: "repeat", Arguments: `{"unit":"wörter ","times":200000}`, MaxShownBytes: 300},
		{Name: "several blocks", Tool: "blocks", Arguments: `{"file_bytes":1024}`},
		{Name: "several blocks and a large file", Tool: "blocks", Arguments: `{"file_bytes":3145728}`, MaxShownBytes: 4096},
		{Name: "an empty file", Tool: "blocks", Arguments: `{"file_bytes":0}`},
		{Name: "tool error", Tool: "fail", Arguments: `{"message":"no such street: ` + unicode + `"}`},
		{Name: "effects, usage, cost and metadata", Tool: "effects"},
		{Name: "statuses, progress and a log", Tool: "steps"},
		{Name: "partial arguments", Tool: "draft", Pieces: pieces(`{"te`, ``, `xt":"Dear`, ``, ` Ms. |`, `Dear Ms. |`, ` Brown |`, `Dear Ms. | Brown |`, `"}`, ``)},
		{Name: "letters that come in pieces", Tool: "draft", Pieces: pieces(`{"text":"na`+"\xc3", ``, "\xafve \xf0\x9f", ``, "\x98\x80 |", `naïve 😀 |`,
			`\ud83d`, ``, `\ude00 |`, `naïve 😀 |😀 |`, `"}`, ``)},
		{Name: "pieces that are no JSON", Tool: "draft", Pieces: pieces(`{"text":"a |`, `a |`, `",}]`, ``)},
		{Name: "the call and its context", Tool: "about_the_call", CallID: "call-4711", Context: map[string]json.RawMessage{
			"colour": json.RawMessage(`{"name":"grün 😀","rgb":[0,255,0]}`), "shape": json.RawMessage(`"round"`),
		}},
		{Name: "cancel", Tool: "wait", Cancel: "no longer wanted: äöü 😀"},
		// Quietly, because the end at the deadline does not wait for a status that the tool reports
		// then.
		{Name: "deadline", Tool: "wait", Arguments: `{"quietly":true}`, TimeoutMS: 300},
		{Name: "unknown tool", Tool: "no_such_tool", Arguments: `{}`},
		{Name: "ill-formed arguments", Tool: "say", Arguments: `{"text":"a}`},
		{Name: "arguments that do not fit", Tool: "say", Arguments: `{"text":{"a":"ü"}}`},
		{Name: "a call with an id", Tool: "say", Arguments: `{"text":"once"}`, CallID: "once"},
		{Name: "the same again", Tool: "say", Arguments: `{"text":"once"}`, CallID: "once"},
		{Name: "another with its id", Tool: "say", Arguments: `{"text":"twice"}`, CallID: "once"},
	}
	for _, kind := range []string{"invalid_argument", "not_found", "denied", "approval_required", "rate_limited", "timeout", "cancelled",
		"crashed", "unavailable", "outcome_unknown", "conflict", "internal"} {
		table = append(table, testCase{Name: "error " + kind, Tool: "break_down",
			Arguments: fmt.Sprintf(`{"kind":%q,"message":"the meter says %s: 4711 😀","retry_after_ms":1500}`, kind, kind)})
	}
	for i := range table {
		if table[i].MaxShownBytes == 0 {
			table[i].MaxShownBytes = everything
		}
	}
	return table
}

// pieces returns argument text in pieces. The arguments are pairs: a text, and the status to await
// after it.
func pieces(pairs ...string) []piece {
	var all []piece
	for i := 0; i < len(pairs); i += 2 {
		all = append(all, piece{[]byte(pairs[i]), pairs[i+1]})
	}
	return all
}
