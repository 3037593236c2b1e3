// Command plugin is the Go plugin of server/internal/e2e/languages.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"time"

	"github.com/toolhost/toolhost/sdk"
)

func main() {
	sdk.Serve(sdk.Plugin{Name: "table", Version: "1.0.0", Tools: []sdk.Tool{
		sdk.Func(spec("echo"), echo),
		sdk.Func(spec("say"), say),
		sdk.Func(spec("repeat"), repeat),
		sdk.Func(spec("value"), value),
		sdk.Func(spec("nothing"), func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil }),
		sdk.Func(spec("blocks"), blocks),
		sdk.Func(spec("fail"), fail),
		sdk.Func(spec("break_down"), breakDown),
		sdk.Func(spec("effects", func(s *sdk.Spec) { s.EffectKeys = []string{"plan", "seen", "tree"} }), effects),
		sdk.Func(spec("steps"), steps),
		sdk.Func(spec("wait"), wait),
		sdk.Func(spec("about_the_call", func(s *sdk.Spec) { s.ContextKeys = []string{"colour"} }), aboutTheCall),
		sdk.Func(spec("parameters"), func(context.Context, parametersIn) (string, error) { return "fits", nil }),
		sdk.Object(spec("draft", func(s *sdk.Spec) { s.PartialArguments = true }), func(context.Context) (*draft, error) { return &draft{}, nil }),
	}})
}

func spec(name string, more ...func(*sdk.Spec)) sdk.Spec {
	s := sdk.Spec{Name: name, Description: "Does what the case of " + name + " needs.", ReadOnly: true}
	for _, m := range more {
		m(&s)
	}
	return s
}

// parametersIn has a parameter of each usual type.
type parametersIn struct {
	Count      int      `json:"count" minimum:"1" maximum:"100"`
	Price      float64  `json:"price" minimum:"0.5"`
	Color      string   `json:"color" enum:"red,green,blue"`
	Resolution int      `json:"resolution" enum:"72,150,300"`
	Code       string   `json:"code" pattern:"^[a-z]+$"`
	Tags       []string `json:"tags" minItems:"1" maxItems:"3"`
	Address    struct {
		Street string `json:"street" minLength:"1"`
		Zip    string `json:"zip" pattern:"^[0-9]{5}$"`
	} `json:"address"`
	Labels map[string]int `json:"labels"`
	Urgent bool           `json:"urgent"`
	When   time.Time      `json:"when"`
	Note   string         `json:"note,omitempty" maxLength:"20" default:"none"`
	Parent *int           `json:"parent,omitempty"`
}

func echo(_ context.Context, arguments json.RawMessage) (sdk.Content, error) {
	return sdk.JSON(arguments), nil
}

type sayIn struct {
	Text string `json:"text"`
}

func say(_ context.Context, in sayIn) (string, error) { return in.Text, nil }

type repeatIn struct {
	Unit  string `json:"unit"`
	Times int    `json:"times"`
}

func repeat(_ context.Context, in repeatIn) (string, error) {
	return strings.Repeat(in.Unit, in.Times), nil
}

type valueOut struct {
	Text  string             `json:"text"`
	Empty struct{}           `json:"empty"`
	None  *int               `json:"none"`
	List  []int              `json:"list"`
	Flags []bool             `json:"flags"`
	Half  float64            `json:"half"`
	Minus int                `json:"minus"`
	Big   uint64             `json:"big"`
	Deep  [][]map[string]any `json:"deep"`
}

func value(context.Context, struct{}) (valueOut, error) {
	return valueOut{
		Text: "naïve 漢字 😀 <a & b> \"\\\t", List: []int{}, Flags: []bool{true, false}, Half: .5, Minus: -3, Big: math.MaxUint64,
		Deep: [][]map[string]any{{{"1": nil}}},
	}, nil
}

type blocksIn struct {
	FileBytes int `json:"file_bytes"`
}

func blocks(_ context.Context, in blocksIn) ([]sdk.Content, error) {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	image := sdk.Image("image/png", append([]byte("\x89PNG\r\n\x1a\n"), 0, 255))
	image.Name = "pixel.png"
	return []sdk.Content{
		sdk.Text("first"),
		image,
		sdk.JSON(json.RawMessage(`{"n": 1.50}`)),
		sdk.File("bytes.bin", "application/octet-stream", bytes.Repeat(all, in.FileBytes/256)),
		sdk.Text(""),
	}, nil
}

type failIn struct {
	Message string `json:"message"`
}

func fail(_ context.Context, in failIn) (string, error) { return "", errors.New(in.Message) }

type breakIn struct {
	Kind         string `json:"kind"`
	Message      string `json:"message"`
	RetryAfterMS int    `json:"retry_after_ms,omitempty"`
}

func breakDown(_ context.Context, in breakIn) (string, error) {
	return "", &sdk.Error{Kind: sdk.Kind(in.Kind), Message: in.Message, RetryAfter: time.Duration(in.RetryAfterMS) * time.Millisecond}
}

func effects(context.Context, struct{}) (sdk.Result, error) {
	r := sdk.TextResult("planned")
	r.Effects = []sdk.Effect{
		{Key: "plan", Value: json.RawMessage(`"walk"`)},
		{Key: "seen", Operation: sdk.EffectAppend, Value: json.RawMessage(`{"n":7}`)},
		{Key: "tree", Operation: sdk.EffectMerge, Value: json.RawMessage(`{"leaf":null,"ключ":[]}`)},
	}
	r.Cost = .25
	r.Usage.InputTokens, r.Usage.OutputTokens, r.Usage.CacheReadTokens, r.Usage.CacheWriteTokens = 11, 5, 3, 2
	r.Metadata = map[string]json.RawMessage{"source": json.RawMessage(`"fixture"`), "pages": json.RawMessage(`{"first":1,"last":[2,3]}`)}
	return r, nil
}

func steps(ctx context.Context, _ struct{}) (string, error) {
	sdk.ReportStatus(ctx, sdk.Status{State: sdk.StatusWait, Message: "about to begin", Parameters: json.RawMessage(`{"a":{"x":1},"n":1}`)})
	sdk.ReportStatus(ctx, sdk.Status{State: sdk.StatusDoing, Message: "at wörk", Parameters: json.RawMessage(`{"a":{"y":2}}`)})
	sdk.ReportProgress(ctx, 1, 3, "a third")
	sdk.Logger(ctx).Warn("halfway", "left", 2)
	sdk.ReportProgress(ctx, 2.5, 3, "")
	sdk.ReportStatus(ctx, sdk.Status{State: sdk.StatusSuccess, Message: "done", Parameters: json.RawMessage(`{"n":2}`), Result: json.RawMessage(`{"rows":3}`)})
	return "stepped", nil
}

type waitIn struct {
	Quietly bool `json:"quietly,omitempty"`
}

func wait(ctx context.Context, in waitIn) (string, error) {
	if !in.Quietly {
		sdk.ReportStatus(ctx, sdk.Status{Message: "waiting"})
	}
	<-ctx.Done()
	return "", ctx.Err()
}

type aboutOut struct {
	CallID  string `json:"call_id"`
	Attempt int    `json:"attempt"`
	Colour  any    `json:"colour"`
}

func aboutTheCall(ctx context.Context, _ struct{}) (aboutOut, error) {
	colour, _, err := sdk.Value[any](ctx, "colour")
	return aboutOut{sdk.CallID(ctx), sdk.Attempt(ctx), colour}, err
}

// draft reports its partial text as a status whenever the text ends with a bar. A caller can wait
// for such a status.
type draft struct{ shown string }

func (d *draft) Partial(ctx context.Context, soFar sayIn) {
	if soFar.Text != d.shown && strings.HasSuffix(soFar.Text, "|") {
		d.shown = soFar.Text
		encoded, _ := json.Marshal(map[string]string{"text": d.shown}) // Marshal cannot fail here
		sdk.ReportStatus(ctx, sdk.Status{Message: "so far", Parameters: encoded})
	}
}

func (d *draft) Call(_ context.Context, in sayIn) (string, error) {
	return in.Text + " after " + d.shown, nil
}
