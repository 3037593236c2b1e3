package main

import (
	"encoding/json"
	"os"
	"slices"

	"google.golang.org/protobuf/proto"

	pluginv1 "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
)

// say sends a frame as soon as the call has credit. It returns false if the call is stopped before.
func (t *talk) say(number uint32, c *said, frame *pluginv1.ConnectResponse) bool {
	frame.Call = number
	t.mu.Lock()
	for c.credit <= 0 && (c.stopped == 0 || t.l.commits("waits")) && !t.l.commits("spends") {
		t.more.Wait()
	}
	c.credit -= proto.Size(frame)
	stopped := c.stopped != 0 && !t.l.commits("waits")
	t.mu.Unlock()
	if stopped {
		return false
	}
	t.put(frame)
	return true
}

func (t *talk) put(frame *pluginv1.ConnectResponse) {
	t.send.Lock()
	defer t.send.Unlock()
	_ = t.stream.Send(frame)
}

func (t *talk) end(number uint32, end *pluginv1.CallEnd) {
	t.mu.Lock()
	delete(t.calls, number)
	t.line = slices.DeleteFunc(t.line, func(n uint32) bool { return n == number })
	t.more.Broadcast()
	t.mu.Unlock()
	t.put(&pluginv1.ConnectResponse{Call: number, Frame: &pluginv1.ConnectResponse_End{End: end}})
}

func (t *talk) fail(number uint32, kind toolv1.ErrorKind) {
	t.end(number, &pluginv1.CallEnd{Outcome: &pluginv1.CallEnd_Error{Error: &toolv1.Error{Kind: kind, Message: "so it is"}}})
}

func state(s toolv1.StatusState, progress float64) *pluginv1.ConnectResponse {
	return &pluginv1.ConnectResponse{Frame: &pluginv1.ConnectResponse_Status{Status: &toolv1.Status{State: s, Progress: &toolv1.Progress{Done: progress}}}}
}

func log(level toolv1.LogLevel) *pluginv1.ConnectResponse {
	return &pluginv1.ConnectResponse{Frame: &pluginv1.ConnectResponse_Log{Log: &toolv1.LogRecord{Level: level, Message: "so far"}}}
}

// ships reports whether the plugin has a tool.
func ships(name string) bool { return name == "say" || name == "tell" }

// run runs one call.
func (t *talk) run(number uint32, c *said) {
	if !ships(c.start.GetTool()) && !t.l.commits("knows_all") {
		t.fail(number, toolv1.ErrorKind_ERROR_KIND_NOT_FOUND)
		return
	}
	t.mu.Lock()
	for t.l.commits("in_line") && t.line[0] != number && c.stopped == 0 {
		t.more.Wait()
	}
	for !c.complete && c.stopped == 0 && (!t.l.commits("hasty") || string(c.start.GetArguments()) != "{") && (!t.l.commits("eager") || len(c.text) < 10) {
		t.more.Wait()
	}
	text, stopped := string(c.text), c.stopped
	t.mu.Unlock()
	if stopped != 0 {
		t.fail(number, stopped)
		return
	}
	var arguments struct{ Text string }
	err := json.Unmarshal([]byte(text), &arguments)
	switch {
	case err != nil && t.l.commits("fragile"):
		os.Exit(5)
	case err != nil, len(text) > 1<<19 && t.l.commits("small"):
		kind := toolv1.ErrorKind_ERROR_KIND_INVALID_ARGUMENT
		if err == nil {
			kind = toolv1.ErrorKind_ERROR_KIND_INTERNAL
		}
		t.fail(number, kind)
		return
	}
	t.answer(number, c, arguments.Text)
}

// answer answers a call correctly, apart from the violation.
func (t *talk) answer(number uint32, c *said, text string) {
	const chunk = 64 << 10
	frames := []*pluginv1.ConnectResponse{
		state(toolv1.StatusState_STATUS_STATE_WAIT, 0), state(toolv1.StatusState_STATUS_STATE_DOING, 1), log(toolv1.LogLevel_LOG_LEVEL_DEBUG),
	}
	if t.l.commits("backwards") {
		frames = append(frames, state(toolv1.StatusState_STATUS_STATE_WAIT, 2))
	}
	if t.l.commits("after_success") {
		frames = append(frames, state(toolv1.StatusState_STATUS_STATE_SUCCESS, 2), state(0, 3))
	}
	if t.l.commits("sinking") {
		frames = append(frames, state(0, 0.5))
	}
	if t.l.commits("bad_level") {
		frames = append(frames, log(99))
	}
	result := &toolv1.Result{Content: []*toolv1.Content{{Block: &toolv1.Content_Json{Json: []byte(`{"length":1}`)}}}}
	if text != "" {
		block := &toolv1.Content_Text{Text: text}
		if len(text) > chunk && !t.l.commits("big_end") {
			size := chunk
			if t.l.commits("big_chunk") {
				size *= 2
			}
			for rest := text; rest != ""; rest = rest[min(size, len(rest)):] {
				piece := &pluginv1.ContentChunk{Index: 1, Data: []byte(rest[:min(size, len(rest))])}
				frames = append(frames, &pluginv1.ConnectResponse{Frame: &pluginv1.ConnectResponse_Chunk{Chunk: piece}})
			}
			block.Text = ""
		}
		result.Content = append(result.Content, &toolv1.Content{Block: block})
	}
	for _, frame := range frames {
		if !t.say(number, c, frame) {
			t.mu.Lock()
			kind := c.stopped
			t.mu.Unlock()
			t.fail(number, kind)
			return
		}
	}
	if t.l.commits("bad_json") {
		result.Content[0].Block = &toolv1.Content_Json{Json: []byte(`{length}`)}
	}
	if t.l.commits("off_schema") {
		result.Content[0].Block = &toolv1.Content_Json{Json: []byte(`{"length":"long"}`)}
	}
	if t.l.commits("empty_block") {
		result.Content = append(result.Content, &toolv1.Content{})
	}
	end := &pluginv1.CallEnd{Outcome: &pluginv1.CallEnd_Result{Result: result}}
	if t.l.commits("no_outcome") {
		end = &pluginv1.CallEnd{}
	}
	t.end(number, end)
	if t.l.commits("ends_twice") {
		t.end(number, end)
	}
	if t.l.commits("last_word") {
		frame := log(toolv1.LogLevel_LOG_LEVEL_INFO)
		frame.Call = number
		t.put(frame)
	}
}
