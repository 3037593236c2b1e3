package mcpserver_test

import (
	"bufio"
	"encoding/json"
	"io"
	"strings"
	"testing"
)

// TestLinesThatAreNoMessages checks that the session goes on after a line that is no message, and
// that the client learns why (go-sdk#1209).
func TestLinesThatAreNoMessages(t *testing.T) {
	const ping = `{"jsonrpc":"2.0","id":7,"method":"ping"}`
	for name, test := range map[string]struct {
		line string
		want []string // "id code" of each answer; code 0: a result
	}{
		"no JSON":                      {`hello`, []string{"null -32700"}},
		"an unfinished object":         {`{"jsonrpc":"2.0","id":7,`, []string{"null -32700"}},
		"a stray brace":                {`}`, []string{"null -32700"}},
		"a single quote":               {`{'jsonrpc':'2.0'}`, []string{"null -32700"}},
		"NaN":                          {`{"jsonrpc":"2.0","id":NaN,"method":"ping"}`, []string{"null -32700"}},
		"an empty line":                {"", nil},
		"blanks":                       {" \t\r", nil},
		"a byte order mark":            {"\xEF\xBB\xBF" + ping, []string{"7 0"}},
		"nothing but the mark":         {"\xEF\xBB\xBF", nil},
		"a batch":                      {`[` + ping + `,` + ping + `]`, []string{"null -32600"}},
		"an empty batch":               {`[]`, []string{"null -32600"}},
		"two messages on a line":       {ping + strings.Replace(ping, "7", "8", 1), []string{"7 0", "8 0"}},
		"two messages and a blank":     {ping + "  " + strings.Replace(ping, "7", "8", 1), []string{"7 0", "8 0"}},
		"a message and rubbish":        {ping + "x", []string{"7 0", "null -32700"}},
		"a message and a batch":        {ping + "[]", []string{"7 0", "null -32600"}},
		"CR LF":                        {ping + "\r", []string{"7 0"}},
		"another version":              {`{"jsonrpc":"1.0","id":7,"method":"ping"}`, []string{"7 -32600"}},
		"no version":                   {`{"id":7,"method":"ping"}`, []string{"7 -32600"}},
		"a text":                       {`"ping"`, []string{"null -32600"}},
		"null":                         {`null`, []string{"null -32600"}},
		"a number":                     {`7`, []string{"null -32600"}},
		"a method that is a number":    {`{"jsonrpc":"2.0","id":7,"method":5}`, []string{"7 -32600"}},
		"an id that is an object":      {`{"jsonrpc":"2.0","id":{},"method":"ping"}`, []string{"null -32600"}},
		"an object without anything":   {`{}`, []string{"null -32600"}},
		"nested a thousand times":      {`{"jsonrpc":"2.0","id":7,"method":"ping","params":` + strings.Repeat("[", 1_001) + strings.Repeat("]", 1_001) + `}`, []string{"7 -32600"}},
		"a line of more than 16 MiB":   {strings.Repeat("x", 17<<20), []string{"null -32600"}},
		"a method that does not exist": {`{"jsonrpc":"2.0","id":7,"method":"x/y"}`, []string{"7 -32601"}},
		"an unknown notification":      {`{"jsonrpc":"2.0","method":"notifications/x"}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, nil)
			fromClient, toServer := io.Pipe()
			fromServer, toClient := io.Pipe()
			served := make(chan error, 1)
			go func() { served <- f.Run(t.Context(), fromClient, toClient) }()
			answers := make(chan string, 100)
			go func() { // ends with the session
				defer close(answers)
				for lines := bufio.NewScanner(fromServer); lines.Scan(); {
					answers <- lines.Text()
				}
			}()
			say := func(line string) { _, _ = io.WriteString(toServer, line+"\n") }
			say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
			<-answers
			say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
			say(test.line)
			var got []string
			for range test.want {
				got = append(got, answerOf(t, <-answers))
			}
			say(`{"jsonrpc":"2.0","id":"last","method":"ping"}`)
			if last := answerOf(t, <-answers); last != `"last" 0` {
				t.Errorf("after that, the server says %s", last)
			}
			for _, want := range test.want { // calls are answered in any order
				found := false
				for i, answer := range got {
					if found = answer == want; found {
						got[i] = ""
						break
					}
				}
				if !found {
					t.Errorf("the answers are %q, want %q", got, test.want)
				}
			}
			_ = toServer.Close()
			if err := <-served; err != nil {
				t.Errorf("Run: %v", err)
			}
		})
	}
}

// answerOf returns id and code of an answer; code 0: it is a result.
func answerOf(t *testing.T, line string) string {
	t.Helper()
	var m struct {
		ID    json.RawMessage
		Error struct{ Code json.Number }
	}
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	if m.Error.Code == "" {
		m.Error.Code = "0"
	}
	return string(m.ID) + " " + m.Error.Code.String()
}
