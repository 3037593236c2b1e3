//go:build more

package barecontract

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolhost/toolhost/sdk"
	"github.com/toolhost/toolhost/tool"
)

// unit is the text that large texts repeat. It has letters of one to four bytes, and its length
// does not divide the length of a chunk.
const unit = "0123456789 äöü € 😀 "

// pixel is a PNG of one pixel.
var pixel, _ = hex.DecodeString("89504e470d0a1a0a0000000d4948445200000001000000010804000000b51c0c02" +
	"0000000b4944415478da6364f80f00010501012718e3660000000049454e44ae426082")

// servePlugin serves the Go plugin. It has the same tools as the plugins in testdata.
func servePlugin() {
	m := &meetings{rooms: map[string]*meeting{}}
	var opened atomic.Int64
	sdk.Serve(sdk.Plugin{
		Name: "bare", Version: "1.2.3", Description: "A fixture.", DefaultTags: []string{"fixture"},
		Tools: []sdk.Tool{
			function("echo", func(_ context.Context, in json.RawMessage) (json.RawMessage, error) { return in, nil }),
			function("describe_call", describeCall),
			function("large", large),
			function("fail", func(_ context.Context, in failIn) (any, error) { return nil, errors.New(in.Message) }),
			function("break_down", breakDown),
			function("effects", effects),
			function("image", func(context.Context, any) (sdk.Content, error) {
				picture := sdk.Image("image/png", pixel)
				picture.Name = "pixel.png"
				return picture, nil
			}),
			function("steps", steps),
			sdk.Object(spec("draft"), func(context.Context) (*draft, error) { return &draft{number: opened.Add(1)}, nil }),
			function("wait", func(ctx context.Context, _ any) (any, error) {
				sdk.ReportStatus(ctx, sdk.Status{State: tool.StatusDoing, Message: "waiting"})
				<-ctx.Done()
				return nil, ctx.Err()
			}),
			function("meet", m.meet),
			function("chatter", chatter),
		},
	})
}

// spec declares a tool that accepts any arguments.
func spec(name string) sdk.Spec {
	s := sdk.Spec{
		Name: name, Description: "Does what the test of " + name + " needs.", ReadOnly: true,
		PartialArguments: name == "draft", InputSchema: json.RawMessage(`{"type":"object"}`),
	}
	switch name {
	case "describe_call":
		s.ContextKeys = []string{"colour"}
	case "effects":
		s.EffectKeys = []string{"plan", "seen", "tree"}
	}
	return s
}

func function[In, Out any](name string, fn func(context.Context, In) (Out, error)) sdk.Tool {
	return sdk.Func(spec(name), fn)
}

func describeCall(ctx context.Context, _ any) (sdk.Result, error) {
	values, secrets := map[string]any{}, map[string]string{}
	if colour, found, err := sdk.Value[string](ctx, "colour"); err == nil && found {
		values["colour"] = colour
	}
	if token, found := sdk.Secret(ctx, "token"); found {
		secrets["token"] = token
	}
	return jsonResult(map[string]any{
		"call_id": sdk.CallID(ctx), "attempt": sdk.Attempt(ctx), "session": sdk.Session(ctx), "workspace": sdk.Workspace(ctx),
		"values": values, "secrets": secrets, "traceparent": sdk.Traceparent(ctx),
	})
}

func jsonResult(v any) (sdk.Result, error) {
	encoded, err := json.Marshal(v)
	return sdk.Result{Content: []sdk.Content{sdk.JSON(encoded)}}, err
}

type largeIn struct {
	Blocks []block `json:"blocks"`
}

// block describes one content block of a large result. Units is a number of repetitions: of unit in
// a text block, and of the 256 byte values in a file block.
type block struct {
	Kind  tool.ContentKind `json:"kind"`
	Units int              `json:"units"`
}

func (b block) content() tool.Content {
	switch b.Kind {
	case tool.ContentText:
		return tool.Text(strings.Repeat(unit, b.Units))
	case tool.ContentJSON:
		// Marshal cannot fail for a string
		encoded, _ := json.Marshal(strings.Repeat(unit, b.Units))
		return tool.JSON(encoded)
	default:
		all := make([]byte, 256)
		for i := range all {
			all[i] = byte(i)
		}
		return tool.File("large.bin", "application/octet-stream", bytes.Repeat(all, b.Units))
	}
}

func large(_ context.Context, in largeIn) ([]sdk.Content, error) {
	var blocks []sdk.Content
	for _, b := range in.Blocks {
		blocks = append(blocks, b.content())
	}
	return blocks, nil
}

type failIn struct {
	Kind       string  `json:"kind"`
	Message    string  `json:"message"`
	RetryAfter float64 `json:"retry_after"`
}

func breakDown(_ context.Context, in failIn) (any, error) {
	if in.Kind == "BUG" {
		panic(in.Message)
	}
	err := tool.Errorf(tool.Kind(strings.ToLower(in.Kind)), "%s", in.Message)
	err.RetryAfter = time.Duration(in.RetryAfter * float64(time.Second))
	return nil, err
}

func effects(context.Context, any) (sdk.Result, error) {
	return sdk.Result{
		Effects: []sdk.Effect{
			{Key: "plan", Operation: tool.EffectReplace, Value: json.RawMessage(`"walk"`)},
			{Key: "seen", Operation: tool.EffectAppend, Value: json.RawMessage(`{"n":7}`)},
			{Key: "tree", Operation: tool.EffectMerge, Value: json.RawMessage(`{"leaf":null}`)},
		},
		Metadata: map[string]json.RawMessage{"source": json.RawMessage(`"fixture"`)},
		Cost:     0.25,
		Usage:    sdk.Usage{InputTokens: 11, OutputTokens: 5},
	}, nil
}

func steps(ctx context.Context, _ any) (string, error) {
	sdk.ReportStatus(ctx, sdk.Status{State: tool.StatusWait, Message: "about to begin", Parameters: json.RawMessage(`{"a":{"x":1},"n":1}`)})
	sdk.ReportStatus(ctx, sdk.Status{State: tool.StatusDoing, Message: "at work", Parameters: json.RawMessage(`{"a":{"y":2}}`)})
	sdk.ReportProgress(ctx, 1, 3, "a third")
	sdk.Logger(ctx).Warn("halfway", "left", 2)
	sdk.ReportProgress(ctx, 3, 3, "")
	sdk.ReportStatus(ctx, sdk.Status{State: tool.StatusSuccess, Message: "done", Parameters: json.RawMessage(`{"n":2}`), Result: json.RawMessage(`{"rows":3}`)})
	return "stepped", nil
}

// draft reports its partial text as a status.
type draft struct {
	number   int64
	previews []string
}

type draftIn struct {
	Text string `json:"text"`
}

func (d *draft) Partial(ctx context.Context, soFar draftIn) {
	if soFar.Text == "" {
		return
	}
	d.previews = append(d.previews, soFar.Text)
	// Marshal cannot fail here
	parameters, _ := json.Marshal(map[string]any{"text": soFar.Text, "object": d.number})
	sdk.ReportStatus(ctx, sdk.Status{State: tool.StatusWait, Parameters: parameters})
}

func (d *draft) Call(_ context.Context, in draftIn) (sdk.Result, error) {
	return jsonResult(map[string]any{"text": in.Text, "previews": d.previews, "object": d.number})
}

// meetings lets the calls of one room wait until all of them have arrived.
type meetings struct {
	mu    sync.Mutex
	rooms map[string]*meeting
}

type meeting struct {
	came     int
	allThere chan struct{}
}

type meetIn struct {
	Room  string `json:"room"`
	Count int    `json:"count"`
}

func (m *meetings) meet(ctx context.Context, in meetIn) (string, error) {
	m.mu.Lock()
	room := m.rooms[in.Room]
	if room == nil {
		room = &meeting{allThere: make(chan struct{})}
		m.rooms[in.Room] = room
	}
	if room.came++; room.came == in.Count {
		close(room.allThere)
	}
	m.mu.Unlock()
	select {
	case <-room.allThere:
		return fmt.Sprintf("met %d", in.Count), nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func chatter(ctx context.Context, in struct {
	Count int `json:"count"`
}) (string, error) {
	for n := range in.Count {
		sdk.Logger(ctx).Debug(fmt.Sprintf("line %d %s", n, strings.Repeat("x", 1000)))
	}
	return fmt.Sprintf("said %d", in.Count), nil
}
