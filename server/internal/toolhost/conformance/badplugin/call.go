package main

import (
	"encoding/json"
	"os"
	"slices"

	"google.golang.org/protobuf/proto"

	pluginv1 "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
)

// send waits until the call has credit and sends a frame. It returns false if the call stops before
// that.
func (s *callStream) send(c *call, frame *pluginv1.ConnectResponse) bool {
	frame.Call = c.number
	s.mu.Lock()
	for c.credit <= 0 && (c.stopped == 0 || s.plugin.commits("waits")) && !s.plugin.commits("spends") {
		s.changed.Wait()
	}
	c.credit -= proto.Size(frame)
	stopped := c.stopped != 0 && !s.plugin.commits("waits")
	s.mu.Unlock()
	if stopped {
		return false
	}
	s.put(frame)
	return true
}

func (s *callStream) put(frame *pluginv1.ConnectResponse) {
	s.sending.Lock()
	defer s.sending.Unlock()
	_ = s.stream.Send(frame)
}

func (s *callStream) end(number uint32, end *pluginv1.CallEnd) {
	s.mu.Lock()
	delete(s.calls, number)
	s.queue = slices.DeleteFunc(s.queue, func(n uint32) bool { return n == number })
	s.changed.Broadcast()
	s.mu.Unlock()
	s.put(&pluginv1.ConnectResponse{Call: number, Frame: &pluginv1.ConnectResponse_End{End: end}})
}

func (s *callStream) fail(number uint32, kind toolv1.ErrorKind) {
	s.end(number, &pluginv1.CallEnd{Outcome: &pluginv1.CallEnd_Error{Error: &toolv1.Error{Kind: kind, Message: "so it is"}}})
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
func (s *callStream) run(c *call) {
	if !ships(c.start.GetTool()) && !s.plugin.commits("knows_all") {
		s.fail(c.number, toolv1.ErrorKind_ERROR_KIND_NOT_FOUND)
		return
	}
	s.mu.Lock()
	for s.plugin.commits("in_line") && s.queue[0] != c.number && c.stopped == 0 {
		s.changed.Wait()
	}
	for !c.complete && c.stopped == 0 && (!s.plugin.commits("hasty") || string(c.start.GetArguments()) != "{") && (!s.plugin.commits("eager") || len(c.text) < 10) {
		s.changed.Wait()
	}
	text, stopped := string(c.text), c.stopped
	s.mu.Unlock()
	if stopped != 0 {
		s.fail(c.number, stopped)
		return
	}
	if c.start.GetSettle() && (c.start.GetTool() == "tell" || !s.plugin.commits("obedient")) {
		s.settle(c)
		return
	}
	var arguments struct{ Text string }
	err := json.Unmarshal([]byte(text), &arguments)
	switch {
	case err != nil && s.plugin.commits("fragile"):
		os.Exit(5)
	case err != nil, len(text) > 1<<19 && s.plugin.commits("small"):
		kind := toolv1.ErrorKind_ERROR_KIND_INVALID_ARGUMENT
		if err == nil {
			kind = toolv1.ErrorKind_ERROR_KIND_INTERNAL
		}
		s.fail(c.number, kind)
		return
	}
	s.answer(c, arguments.Text)
}

// answer answers a call correctly, apart from the violations.
func (s *callStream) answer(c *call, text string) {
	frames, result := append(s.plugin.events(), s.plugin.chunks(text)...), s.plugin.result(text)
	for _, frame := range frames {
		if !s.send(c, frame) {
			s.mu.Lock()
			kind := c.stopped
			s.mu.Unlock()
			s.fail(c.number, kind)
			return
		}
	}
	s.plugin.mu.Lock()
	s.plugin.executed[c.start.GetCallId()] = true
	s.plugin.mu.Unlock()
	end := &pluginv1.CallEnd{Outcome: &pluginv1.CallEnd_Result{Result: result}}
	if s.plugin.commits("no_outcome") {
		end = &pluginv1.CallEnd{}
	}
	s.end(c.number, end)
	if s.plugin.commits("ends_twice") {
		s.end(c.number, end)
	}
	if s.plugin.commits("last_word") {
		frame := log(toolv1.LogLevel_LOG_LEVEL_INFO)
		frame.Call = c.number
		s.put(frame)
	}
}

// settle says what became of a call correctly, apart from the violations.
func (s *callStream) settle(c *call) {
	if c.start.GetTool() != "tell" {
		s.fail(c.number, toolv1.ErrorKind_ERROR_KIND_UNSUPPORTED)
		return
	}
	s.plugin.mu.Lock()
	executed := s.plugin.executed[c.start.GetCallId()]
	s.plugin.mu.Unlock()
	settlement := &pluginv1.Settlement{CallId: c.start.GetCallId(), Verdict: pluginv1.SettlementVerdict_SETTLEMENT_VERDICT_UNKNOWN}
	switch {
	case executed || s.plugin.commits("claims"):
		settlement.Verdict = pluginv1.SettlementVerdict_SETTLEMENT_VERDICT_HAPPENED
	case s.plugin.commits("forgets"): // that another process may have executed it
		settlement.Verdict = pluginv1.SettlementVerdict_SETTLEMENT_VERDICT_DID_NOT_HAPPEN
	}
	if s.plugin.commits("vague") {
		settlement.Result = &toolv1.Result{Content: []*toolv1.Content{{Block: &toolv1.Content_Text{Text: "told"}}}}
	}
	if s.plugin.commits("mixes_up") {
		settlement.CallId = "another"
	}
	s.end(c.number, &pluginv1.CallEnd{Outcome: &pluginv1.CallEnd_Settlement{Settlement: settlement}})
}

// events returns the statuses and log records of a call.
func (p *badplugin) events() []*pluginv1.ConnectResponse {
	frames := []*pluginv1.ConnectResponse{
		state(toolv1.StatusState_STATUS_STATE_WAIT, 0), state(toolv1.StatusState_STATUS_STATE_DOING, 1), log(toolv1.LogLevel_LOG_LEVEL_DEBUG),
	}
	if p.commits("backwards") {
		frames = append(frames, state(toolv1.StatusState_STATUS_STATE_WAIT, 2))
	}
	if p.commits("after_success") {
		frames = append(frames, state(toolv1.StatusState_STATUS_STATE_SUCCESS, 2), state(0, 3))
	}
	if p.commits("sinking") {
		frames = append(frames, state(0, 0.5))
	}
	if p.commits("bad_level") {
		frames = append(frames, log(99))
	}
	return append(frames, p.spans()...)
}

// chunkSize is the maximum payload of a chunk in the contract.
const chunkSize = 64 << 10

// chunked reports whether a text is sent in chunks, before the end of the call.
func (p *badplugin) chunked(text string) bool {
	return len(text) > chunkSize && !p.commits("big_end")
}

// chunks returns the frames of a text that is too large for the end of the call.
func (p *badplugin) chunks(text string) (frames []*pluginv1.ConnectResponse) {
	if !p.chunked(text) {
		return nil
	}
	size := chunkSize
	if p.commits("big_chunk") {
		size *= 2
	}
	for piece := range slices.Chunk([]byte(text), size) {
		frames = append(frames, &pluginv1.ConnectResponse{Frame: &pluginv1.ConnectResponse_Chunk{Chunk: &pluginv1.ContentChunk{Index: 1, Data: piece}}})
	}
	return frames
}

// result returns the result that the end of the call contains. A text that was sent in chunks is
// empty in it.
func (p *badplugin) result(text string) *toolv1.Result {
	length := &toolv1.Content_Json{Json: []byte(`{"length":1}`)}
	result := &toolv1.Result{Content: []*toolv1.Content{{Block: length}}}
	if text != "" {
		block := &toolv1.Content_Text{Text: text}
		if p.chunked(text) {
			block.Text = ""
		}
		result.Content = append(result.Content, &toolv1.Content{Block: block})
	}
	if p.commits("bad_json") {
		length.Json = []byte(`{length}`)
	}
	if p.commits("off_schema") {
		length.Json = []byte(`{"length":"long"}`)
	}
	if p.commits("empty_block") {
		result.Content = append(result.Content, &toolv1.Content{})
	}
	return result
}
