package mcpclient

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/toolhost/pluginconn"
	"github.com/toolhost/toolhost/tool"
)

// scripted is a server whose answers to tools/call a test writes by hand. It speaks 2025-11-25, or
// 2026-07-28 if modern is set.
type scripted struct {
	conn *Conn
	out  io.WriteCloser // to toolhost
	seen chan message   // what the server gets after the list of tools
}

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Meta      map[string]json.RawMessage `json:"_meta"`
		Name      string                     `json:"name"`
		Arguments json.RawMessage            `json:"arguments"`
		RequestID json.RawMessage            `json:"requestId"`
		State     string                     `json:"requestState"`
	} `json:"params"`
}

// script starts a session with a scripted server that has the tool t. configure changes its
// configuration.
func script(t *testing.T, modern bool, configure ...func(*Config)) *scripted {
	t.Helper()
	input, in := pipe(t)
	out, output := pipe(t)
	s := &scripted{out: output, seen: make(chan message, 100)}
	ended := make(chan struct{})
	go func() { // ends with the session
		defer close(ended)
		defer close(s.seen)
		for lines := bufio.NewScanner(input); lines.Scan(); {
			var m message
			if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
				t.Errorf("the server got %q: %v", lines.Text(), err)
				return
			}
			switch m.Method {
			case "initialize":
				s.answer(m, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`)
			case "server/discover":
				s.answer(m, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"},"ttlMs":0,"cacheScope":"public"}`)
			case "notifications/initialized":
			case "tools/list":
				s.answer(m, `{"resultType":"complete","tools":[{"name":"t","inputSchema":{"type":"object"}}],"ttlMs":0,"cacheScope":"public"}`)
			default:
				s.seen <- m
			}
		}
	}()
	config := Config{Plugin: "test", MaxResultBytes: 64 << 10, Protocol: "2025-11-25"}
	if modern {
		config.Protocol = ""
	}
	for _, f := range configure {
		f(&config)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	conn, err := OpenPipes(ctx, config, in, out, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	s.conn = conn
	t.Cleanup(func() {
		_ = conn.Close()
		<-ended
		_ = output.Close()
		<-conn.Done()
	})
	return s
}

func (s *scripted) say(line string) { _, _ = io.WriteString(s.out, line+"\n") }

func (s *scripted) answer(m message, result string) {
	s.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result))
}

// call begins a call and returns the request that the server gets.
func (s *scripted) call(t *testing.T, start pluginconn.Start) (pluginconn.Call, message) {
	t.Helper()
	start.Tool, start.Complete = "t", true
	call, err := s.conn.Start(t.Context(), start)
	if err != nil {
		t.Fatal(err)
	}
	return call, <-s.seen
}

// TestDirectRequest checks what a server gets, in both versions of the protocol.
func TestDirectRequest(t *testing.T) {
	for _, modern := range []bool{false, true} {
		s := script(t, modern)
		call, got := s.call(t, pluginconn.Start{Arguments: json.RawMessage("{\"a\":\n 1}")})
		if got.Method != "tools/call" || got.Params.Name != "t" || string(got.Params.Arguments) != `{"a":1}` || string(got.ID) != "1000000000" {
			t.Errorf("modern %v: the server got %+v", modern, got)
		}
		for key, want := range map[string]string{
			"io.modelcontextprotocol/protocolVersion": `"2026-07-28"`, "io.modelcontextprotocol/clientCapabilities": `{}`,
		} {
			if has := string(got.Params.Meta[key]); modern && has != want || !modern && has != "" {
				t.Errorf("modern %v: %s is %s", modern, key, has)
			}
		}
		s.say(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`, got.Params.Meta["progressToken"]))
		s.answer(got, `{"content":[{"type":"text","text":"done"}]}`)
		events, end := outcome(t, call)
		if end.Err != nil || end.Result.Text() != "done" || len(events) != 1 || events[0].Status.Progress.Done != 1 {
			t.Errorf("modern %v: %+v, then %+v", modern, events, end)
		}
	}
}

// TestDirectAnswers checks the outcome of each form of answer.
func TestDirectAnswers(t *testing.T) {
	text := func(s string) []tool.Content { return []tool.Content{tool.Text(s)} }
	s := script(t, false)
	for name, test := range map[string]struct {
		answer  string // %s is the id
		content []tool.Content
		failed  bool
		kind    tool.Kind
		says    string
	}{
		"a text":       {answer: `{"id":%s,"result":{"content":[{"type":"text","text":"x"}]}}`, content: text("x")},
		"other order":  {answer: `{"result":{"isError":true,"content":[{"text":"no","type":"text"}]},"id":%s,"jsonrpc":"2.0"}`, content: text("no"), failed: true},
		"no UTF-8":     {answer: "{\"id\":%s,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"a\xff\"}]}}", content: text("a\uFFFD")},
		"structured":   {answer: `{"id":%s,"result":{"content":[],"structuredContent":{"a":1}}}`, content: []tool.Content{{Kind: tool.ContentJSON, JSON: []byte(`{"a":1}`)}}},
		"an image":     {answer: `{"id":%s,"result":{"content":[{"type":"image","data":"eHk=","mimeType":"image/png"}]}}`, content: []tool.Content{{Kind: tool.ContentImage, MediaType: "image/png", Data: []byte("xy")}}},
		"large":        {answer: `{"id":%s,"result":{"content":[{"type":"text","text":"` + strings.Repeat("x", 20_000) + `"}]}}`, content: text(strings.Repeat("x", 20_000))},
		"too large":    {answer: `{"id":%s,"result":{"content":[{"type":"text","text":"` + strings.Repeat("x", 80_000) + `"}]}}`, kind: tool.KindInternal, says: "larger than the 65536 bytes"},
		"huge":         {answer: `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"` + strings.Repeat("x", 2_000_000) + `"}]}}`, kind: tool.KindInternal, says: "larger than the 65536 bytes"},
		"an error":     {answer: `{"id":%s,"error":{"code":-32602,"message":"no such thing"}}`, kind: tool.KindInvalidArgument, says: "no such thing"},
		"broken error": {answer: `{"id":%s,"error":{"code":"x"}}`, kind: tool.KindInternal, says: "broke the protocol"},
		"no result":    {answer: `{"id":%s}`, kind: tool.KindInternal, says: "broke the protocol"},
		"null":         {answer: `{"id":%s,"error":null,"result":null}`, kind: tool.KindInternal, says: "broke the protocol"},
		"a number":     {answer: `{"id":%s,"result":17}`, kind: tool.KindInternal, says: "broke the protocol"},
	} {
		call, request := s.call(t, pluginconn.Start{})
		s.say(strings.Replace(test.answer, "%s", string(request.ID), 1))
		_, end := outcome(t, call)
		if test.kind != "" {
			if end.Err == nil || end.Err.Kind != test.kind || !strings.Contains(end.Err.Message, test.says) {
				t.Errorf("%s: %+v", name, end)
			}
			continue
		}
		if diff := cmp.Diff(test.content, end.Result.Content); diff != "" || end.Err != nil || end.Result.IsError != test.failed {
			t.Errorf("%s (-want +got): %v, %v\n%s", name, end.Err, end.Result.IsError, diff)
		}
	}
}

// TestDirectAnswersOfOthers checks that an answer counts once, for its own call, and that neither
// an answer without a call nor a request with the id of a call ends a call.
func TestDirectAnswersOfOthers(t *testing.T) {
	s := script(t, false)
	first, one := s.call(t, pluginconn.Start{})
	second, two := s.call(t, pluginconn.Start{})
	s.say(`{"jsonrpc":"2.0","id":1999999999,"result":{"content":[{"type":"text","text":"nobody's"}]}}`)
	s.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"ping"}`, one.ID))
	if pong := <-s.seen; string(pong.ID) != string(one.ID) || pong.Method != "" {
		t.Errorf("the answer to a ping is %+v", pong)
	}
	for _, text := range []string{"b", "late"} {
		s.answer(two, `{"content":[{"type":"text","text":"`+text+`"}]}`)
	}
	s.answer(one, `{"content":[{"type":"text","text":"a"}]}`)
	for call, want := range map[pluginconn.Call]string{first: "a", second: "b"} {
		if _, end := outcome(t, call); end.Err != nil || end.Result.Text() != want {
			t.Errorf("%+v, want %s", end, want)
		}
	}
}

// TestDirectCancel checks that the server is told of a canceled call, and that the call ends when
// the server shows that it is not stuck.
func TestDirectCancel(t *testing.T) {
	s := script(t, false)
	call, request := s.call(t, pluginconn.Start{})
	call.Cancel("enough")
	told := <-s.seen
	if told.Method != "notifications/cancelled" || string(told.Params.RequestID) != string(request.ID) {
		t.Errorf("the server got %+v", told)
	}
	s.answer(<-s.seen, "{}") // the ping
	s.answer(request, `{"content":[{"type":"text","text":"too late"}]}`)
	if _, end := outcome(t, call); end.Err == nil || end.Err.Kind != tool.KindCancelled {
		t.Errorf("%+v", end)
	}
}

// TestDirectLoss checks that calls learn of the end of the server, and that later ones do not
// begin.
func TestDirectLoss(t *testing.T) {
	s := script(t, false)
	call, _ := s.call(t, pluginconn.Start{})
	if err := s.out.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := call.Next(t.Context()); !errors.Is(err, pluginconn.ErrLost) {
		t.Errorf("%v", err)
	}
	<-s.conn.Done()
	if _, err := s.conn.Start(t.Context(), pluginconn.Start{Tool: "t", Complete: true}); !errors.Is(err, pluginconn.ErrLost) {
		t.Errorf("a later call: %v", err)
	}
}

// TestDirectInput checks that a server that needs input gets the next round of the call from the
// SDK, with the state that it sent. Without the state, the server would execute the call a second
// time.
func TestDirectInput(t *testing.T) {
	s := script(t, true)
	call, request := s.call(t, pluginconn.Start{})
	s.answer(request, `{"resultType":"input_required","inputRequests":{},"requestState":"s1"}`)
	again := <-s.seen
	if again.Method != "tools/call" || again.Params.Name != "t" || string(again.ID) == string(request.ID) || again.Params.State != "s1" {
		t.Errorf("the server got %+v", again)
	}
	s.answer(again, `{"resultType":"complete","content":[{"type":"text","text":"done"}]}`)
	if _, end := outcome(t, call); end.Err != nil || end.Result.Text() != "done" {
		t.Errorf("%+v", end)
	}
}

// TestDirectResult checks how the result of a direct request is read, also where the SDK would read
// it in another way.
func TestDirectResult(t *testing.T) {
	for _, test := range []struct{ result, want, err string }{
		{result: `{"content":[]}`},
		{result: `{"structuredContent":{"b": 1e2, "a":12345678901234567890, "c":"<\u00e9"}}`, want: `json {"b":1e2,"a":12345678901234567890,"c":"<\u00e9"}`},
		{result: `{"structuredContent":null,"content":[{"type":"text"}]}`, want: `text `},
		{result: `{"structuredContent":{"a":1,"b":2},"content":[{"type":"text","text":"{ \"b\": 2, \"a\": 1.0 }"}]}`, want: `json {"a":1,"b":2}`},
		{result: `{"structuredContent":{"a":1},"content":[{"type":"text","text":"{\"a\":2}"}]}`, want: `json {"a":1}, text {"a":2}`},
		{result: `{"content":[{"type":"image","mimeType":"image/png","data":"YQ=="},{"type":"audio","data":"Yg=="}]}`, want: `image a, file b`},
		{result: `{"content":[{"type":"resource_link","uri":"x:y","name":"n"},{"type":"tool_use","id":"1"}]}`, want: `text [resource link] n (unknown type): x:y`},
		{result: `{"content":[{"type":"resource","resource":{"uri":"x:y","text":"t"}},{"type":"resource","resource":{"uri":"x:z","blob":"Yg=="}}]}`, want: `text t, file b`},
		{result: `{"content":[{"type":"text","text":"a"}],"isError":true,"_meta":[1],"more":1}`, want: `failed: text a`},
		{result: `{"content":[{"type":"other"}]}`, err: "broke the protocol"},
		{result: `{"content":[null]}`, err: "broke the protocol"},
		{result: `{"content":"text"}`, err: "broke the protocol"},
		{result: `null`, err: "broke the protocol"},
		{result: `7`, err: "broke the protocol"},
	} {
		s := script(t, false)
		call, m := s.call(t, pluginconn.Start{})
		s.answer(m, test.result)
		ev, err := call.Next(t.Context())
		if err != nil || ev.Ended == nil {
			t.Fatalf("%s: %v, %v", test.result, ev, err)
		}
		if test.err != "" {
			if ev.Ended.Err == nil || !strings.Contains(ev.Ended.Err.Error(), test.err) {
				t.Errorf("%s: the error is %v, want %q", test.result, ev.Ended.Err, test.err)
			}
			continue
		}
		var got []string
		for _, c := range ev.Ended.Result.Content {
			got = append(got, strings.ToLower(fmt.Sprint(c.Kind))+" "+c.Text+string(c.JSON)+string(c.Data))
		}
		text := strings.Join(got, ", ")
		if ev.Ended.Result.IsError {
			text = "failed: " + text
		}
		if text != test.want || ev.Ended.Err != nil {
			t.Errorf("%s is read as %q, %v; want %q", test.result, text, ev.Ended.Err, test.want)
		}
	}
}
