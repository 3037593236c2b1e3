package pluginwire_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	pluginv1 "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/tool"
)

// liar answers a call of the tool "lies" with the given frames, and every other call correctly.
func liar(frames func(call uint32) []*pluginv1.ConnectResponse) func(rawStream) error {
	return func(stream rawStream) error {
		for {
			frame, err := stream.Recv()
			if err != nil {
				return nil
			}
			if frame.GetStart() == nil {
				continue
			}
			answer := []*pluginv1.ConnectResponse{endOf(frame.GetCall(), "good")}
			if frame.GetStart().GetTool() == "lies" {
				answer = frames(frame.GetCall())
			}
			for _, f := range answer {
				if err := stream.Send(f); err != nil {
					return err
				}
			}
		}
	}
}

func endWith(blocks ...*toolv1.Content) func(uint32, ...*pluginv1.ConnectResponse) []*pluginv1.ConnectResponse {
	return func(call uint32, before ...*pluginv1.ConnectResponse) []*pluginv1.ConnectResponse {
		return append(before, endFrame(call, &toolv1.Result{Content: blocks}))
	}
}

func TestBrokenContractCostsOneCall(t *testing.T) {
	type frames = []*pluginv1.ConnectResponse
	for _, tt := range []struct {
		name    string
		frames  func(call uint32) frames
		message string // of the error; empty: the call succeeds
		text    string // of the result
	}{
		{"overrun", func(c uint32) frames {
			var out frames
			for range 10 {
				out = append(out, statusFrame(c, &toolv1.Status{Message: strings.Repeat("x", 5000)}))
			}
			return out
		}, "credit", ""},
		{"chunk far out of range", func(c uint32) frames { return frames{chunkFrame(c, 1<<31, nil)} }, "chunk for block", ""},
		{"chunk out of range of the end", func(c uint32) frames {
			return endWith(textBlock("a"))(c, chunkFrame(c, 1, []byte("x")))
		}, "chunk for block 1 of a result that has 1", ""},
		{"chunk too large", func(c uint32) frames { return frames{chunkFrame(c, 0, make([]byte, 65<<10))} }, "chunk of", ""},
		{"chunk for an artifact", func(c uint32) frames {
			artifact := &toolv1.Content{Block: &toolv1.Content_Artifact{Artifact: &toolv1.Artifact{}}}
			return endWith(artifact)(c, chunkFrame(c, 0, []byte("x")))
		}, "takes none", ""},
		{"end too large", func(c uint32) frames { return endWith(textBlock(strings.Repeat("x", 1<<20)))(c) }, "larger than", ""},
		{"end without an outcome", func(c uint32) frames {
			return frames{{Call: c, Frame: &pluginv1.ConnectResponse_End{End: &pluginv1.CallEnd{}}}}
		}, "without an outcome", ""},
		{"no JSON", func(c uint32) frames {
			return endWith(&toolv1.Content{Block: &toolv1.Content_Json{Json: []byte("{")}})(c)
		}, "block 0 of the result is no JSON", ""},
		{"empty JSON", func(c uint32) frames {
			return endWith(&toolv1.Content{Block: &toolv1.Content_Json{}})(c)
		}, "block 0 of the result is no JSON", ""},
		{"effect that is no JSON", func(c uint32) frames {
			return frames{endFrame(c, &toolv1.Result{Effects: []*toolv1.Effect{{Key: "k", Value: []byte("nope")}}})}
		}, `effect on "k"`, ""},
		{"metadata that is no JSON", func(c uint32) frames {
			return frames{endFrame(c, &toolv1.Result{Metadata: map[string][]byte{"m": nil}})}
		}, `metadata "m"`, ""},
		{"error without a kind", func(c uint32) frames {
			end := &pluginv1.CallEnd{Outcome: &pluginv1.CallEnd_Error{Error: &toolv1.Error{Message: "odd"}}}
			return frames{{Call: c, Frame: &pluginv1.ConnectResponse_End{End: end}}}
		}, "odd", ""},

		{"frames after the end", func(c uint32) frames {
			return frames{endOf(c, "first"), statusFrame(c, &toolv1.Status{Message: "late"}), endOf(c, "second")}
		}, "", "first"},
		{"numbers that never were", func(c uint32) frames {
			return frames{endOf(0, "x"), endOf(c+1000, "x"), statusFrame(c+1000, &toolv1.Status{Message: "x"}), endOf(c, "mine")}
		}, "", "mine"},
		{"empty frame", func(c uint32) frames { return frames{{Call: c}, endOf(c, "fine")} }, "", "fine"},
		{"unknown block", func(c uint32) frames { return endWith(&toolv1.Content{}, nil)(c) }, "",
			"[a block of a kind that this toolhost does not know]\n[a block of a kind that this toolhost does not know]"},
		{"JSON that is no UTF-8", func(c uint32) frames {
			return endWith(&toolv1.Content{Block: &toolv1.Content_Json{Json: []byte("\"\xff\"")}})(c)
		}, "", "\"\uFFFD\""},
		{"chunked text that is no UTF-8", func(c uint32) frames {
			return endWith(textBlock("\u00bc."))(c, chunkFrame(c, 0, []byte("\xc3")), chunkFrame(c, 0, []byte("\xbc\xff")))
		}, "", "ü\uFFFD\u00bc."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			conn := openRaw(t, pluginwire.ConnConfig{CallWindow: 10_000, MaxResultBytes: 1<<20 - 1}, liar(tt.frames))
			call := start(t, conn, pluginwire.Start{CallID: "c1", Tool: "lies", Complete: true})
			wantText(t, outcome(t, start(t, conn, pluginwire.Start{Tool: "other", Complete: true})), "good")
			_, out := follow(t, call)
			if tt.message == "" {
				wantText(t, out, tt.text)
			} else if wantKind(t, out, tool.KindInternal); out.Err != nil && (!strings.Contains(out.Err.Message, tt.message) || out.Err.CallID != "c1") {
				t.Errorf("call %q ended with %q, want %q", out.Err.CallID, out.Err.Message, tt.message)
			}
			wantText(t, outcome(t, start(t, conn, pluginwire.Start{Tool: "other", Complete: true})), "good")
		})
	}
}

func TestStatusesThatBreakTheRulesAreLeftOut(t *testing.T) {
	progress := func(done float64) *toolv1.Progress { return &toolv1.Progress{Done: done} }
	const wait, doing, success, failed = toolv1.StatusState_STATUS_STATE_WAIT, toolv1.StatusState_STATUS_STATE_DOING,
		toolv1.StatusState_STATUS_STATE_SUCCESS, toolv1.StatusState_STATUS_STATE_ERROR
	conn := openRaw(t, pluginwire.ConnConfig{}, liar(func(c uint32) []*pluginv1.ConnectResponse {
		bare := func(p *toolv1.Progress) *pluginv1.ConnectResponse {
			return &pluginv1.ConnectResponse{Call: c, Frame: &pluginv1.ConnectResponse_Progress{Progress: p}}
		}
		return []*pluginv1.ConnectResponse{
			statusFrame(c, &toolv1.Status{State: wait}),
			statusFrame(c, &toolv1.Status{State: doing, Parameters: []byte(` {"a":1}`), Result: []byte(`2`)}),
			statusFrame(c, &toolv1.Status{State: wait, Message: "goes back"}),
			statusFrame(c, &toolv1.Status{Parameters: []byte(`[1]`), Result: []byte(`}`)}),
			statusFrame(c, &toolv1.Status{Message: "1", Parameters: []byte(`{"a`), Progress: progress(5)}),
			bare(progress(4)),
			bare(progress(6)),
			statusFrame(c, &toolv1.Status{Message: "2", Progress: progress(5)}),
			statusFrame(c, &toolv1.Status{}),
			{Call: c, Frame: &pluginv1.ConnectResponse_Status{}},
			statusFrame(c, &toolv1.Status{State: success}),
			statusFrame(c, &toolv1.Status{State: failed, Message: "after the end"}),
			statusFrame(c, &toolv1.Status{Message: "after the end"}),
			{Call: c, Frame: &pluginv1.ConnectResponse_Log{Log: &toolv1.LogRecord{
				Message: "still logs", Attributes: map[string][]byte{"good": []byte("1"), "bad": []byte("x\xff")},
			}}},
			endOf(c, "done"),
		}
	}))
	events, out := follow(t, start(t, conn, pluginwire.Start{Tool: "lies", Complete: true}))
	wantText(t, out, "done")
	want := []tool.Event{
		{Status: &tool.Status{State: tool.StatusWait}},
		{Status: &tool.Status{State: tool.StatusDoing, Parameters: json.RawMessage(` {"a":1}`), Result: json.RawMessage(`2`)}},
		{Status: &tool.Status{Message: "1", Progress: &tool.Progress{Done: 5}}},
		{Status: &tool.Status{Progress: &tool.Progress{Done: 6}}},
		{Status: &tool.Status{Message: "2"}},
		{Status: &tool.Status{State: tool.StatusSuccess}},
		{Log: &tool.LogRecord{Level: tool.LogInfo, Message: "still logs", Attributes: map[string]json.RawMessage{
			"good": json.RawMessage(`1`), "bad": json.RawMessage("\"x\uFFFD\""),
		}}},
	}
	if diff := cmp.Diff(want, events); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Bytes that belong to no call end the connection, and no operation blocks.
func TestPluginThatSendsUnreadableBytes(t *testing.T) {
	conn := openRaw(t, pluginwire.ConnConfig{}, liar(func(c uint32) []*pluginv1.ConnectResponse {
		return []*pluginv1.ConnectResponse{chunkFrame(c, 0, bytes.Repeat([]byte("x"), 4<<20))}
	}))
	call := start(t, conn, pluginwire.Start{Tool: "lies", Complete: true})
	_, err := call.Next(t.Context())
	wantLost(t, err)
	if errors.Is(err, pluginwire.ErrConnLost) && !strings.Contains(err.Error(), "larger than max") {
		t.Errorf("the reason is not told: %v", err)
	}
}

// The plugin's end ignores frames for unknown calls.
func TestUnknownNumbersOnThePluginsSide(t *testing.T) {
	cc, _ := serve(t, register(echo))
	stream, err := pluginv1.NewToolPluginServiceClient(cc).Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	begin := func(text string) *pluginv1.ConnectRequest {
		start := &pluginv1.StartCall{Arguments: []byte(text)}
		return &pluginv1.ConnectRequest{Call: 1, Frame: &pluginv1.ConnectRequest_Start{Start: start}}
	}
	complete := func(call uint32, arguments string) *pluginv1.ConnectRequest {
		frame := &pluginv1.CompleteArguments{Arguments: []byte(arguments)}
		return &pluginv1.ConnectRequest{Call: call, Frame: &pluginv1.ConnectRequest_Complete{Complete: frame}}
	}
	for _, frame := range []*pluginv1.ConnectRequest{
		{Call: 9, Frame: &pluginv1.ConnectRequest_Cancel{}},
		{Call: 9, Frame: &pluginv1.ConnectRequest_Credit{}},
		{Call: 9, Frame: &pluginv1.ConnectRequest_Append{}},
		complete(9, "9"), {}, begin("first"), begin("again"), complete(1, ""), complete(1, "twice"),
	} {
		if err := stream.Send(frame); err != nil {
			t.Fatal(err)
		}
	}
	frame, err := stream.Recv()
	if err != nil {
		t.Fatal(err)
	}
	if got := frame.GetEnd().GetResult().GetContent()[0].GetText(); got != "first" || frame.GetCall() != 1 {
		t.Errorf("call %d answered %q", frame.GetCall(), got)
	}
	if err := stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	if frame, err := stream.Recv(); err == nil {
		t.Errorf("another frame: %v", frame)
	}
}
