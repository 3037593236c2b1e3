package filterjson_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/wire/filterjson"
	"github.com/toolhost/toolhost/tool"
)

func everything() tool.Result {
	return tool.Result{
		Content: []tool.Content{
			tool.Text("<b>ä</b>"), tool.JSON(json.RawMessage(`{"a":[1,2.50]}`)), tool.Image("image/png", []byte{0, 255}),
			tool.File("a.bin", "application/octet-stream", []byte("x")),
			{Kind: tool.ContentArtifact, Artifact: &tool.Artifact{Handle: "h", MediaType: "text/plain", Size: 1 << 40, Head: "a", Tail: "z"}},
		},
		Effects:  []tool.Effect{{Key: "k", Operation: tool.EffectMerge, Value: json.RawMessage(`{}`)}},
		Duration: 1500 * time.Millisecond,
		Usage:    tool.Usage{InputTokens: 1, OutputTokens: 2},
		Cost:     .25,
		Metadata: map[string]json.RawMessage{"own": json.RawMessage(`"v"`)},
	}
}

func TestRequestGoesThere(t *testing.T) {
	result := everything()
	for name, q := range map[string]filterjson.Request{
		"before":                {Phase: filterjson.Before, CallID: "c", Principal: "p", Session: "s", Tool: "t", Plugin: "x", Arguments: json.RawMessage(`{"a":"<"}`)},
		"after":                 {Phase: filterjson.After, Tool: "t", Arguments: json.RawMessage(`{}`), Result: &result},
		"nothing but the phase": {Phase: filterjson.Before},
		"an empty result":       {Phase: filterjson.After, Result: &tool.Result{}},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := filterjson.EncodeRequest(q)
			if err != nil {
				t.Fatal(err)
			}
			got, err := filterjson.DecodeRequest(text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(q, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Authors without an SDK rely on the names in the contract.
func TestRequestIsAsTheContractSays(t *testing.T) {
	result := tool.Result{Content: []tool.Content{tool.Text("hi")}, IsError: true}
	result.Metadata = map[string]json.RawMessage{"toolhost.repairs": json.RawMessage(`[]`)}
	text, err := filterjson.EncodeRequest(filterjson.Request{
		Phase: filterjson.After, CallID: "c", Principal: "p", Session: "s", Tool: "t", Plugin: "x", Arguments: json.RawMessage(`{"a":1}`), Result: &result,
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"phase":"after","call_id":"c","principal":"p","session":"s","tool":"t","plugin":"x","arguments":{"a":1},` +
		`"result":{"content":[{"text":"hi"}],"isError":true}}`
	if string(text) != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}

func TestRequestsThatAreNone(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON": `{`, "no phase": `{}`, "another phase": `{"phase":"between"}`, "a list": `[]`,
		"a result that is none": `{"phase":"after","result":{"content":7}}`,
	} {
		if q, err := filterjson.DecodeRequest(json.RawMessage(text)); err == nil {
			t.Errorf("%s: got %+v", name, q)
		}
	}
	if _, err := filterjson.DecodeRequest(json.RawMessage(`{"phase":"before","weather":"fine"}`)); err != nil {
		t.Errorf("what a newer toolhost adds: %v", err)
	}
}

func TestAnswerGoesBack(t *testing.T) {
	result, reason := everything(), "no, \"never\""
	for name, tc := range map[string]struct {
		phase  filterjson.Phase
		answer filterjson.Answer
	}{
		"nothing":      {filterjson.Before, filterjson.Answer{}},
		"arguments":    {filterjson.Before, filterjson.Answer{Arguments: json.RawMessage(`{"a":"<"}`)}},
		"a denial":     {filterjson.Before, filterjson.Answer{Deny: &reason}},
		"an answer":    {filterjson.Before, filterjson.Answer{Answer: &result}},
		"a result":     {filterjson.After, filterjson.Answer{Result: &result}},
		"empty result": {filterjson.After, filterjson.Answer{Result: &tool.Result{}}},
	} {
		t.Run(name, func(t *testing.T) {
			encoded, err := filterjson.EncodeAnswer(tc.answer)
			if err != nil {
				t.Fatal(err)
			}
			got, err := filterjson.DecodeAnswer(tc.phase, encoded)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.answer, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// An answer that is misunderstood must not count as consent.
func TestAnswersThatAreNone(t *testing.T) {
	const before, after = filterjson.Before, filterjson.After
	for name, tc := range map[string]struct {
		phase filterjson.Phase
		text  string
		says  string
	}{
		"text":                       {before, ``, "text"},
		"a list":                     {before, `[]`, "object"},
		"null":                       {before, `null`, "object"},
		"a slip":                     {before, `{"denny":"x"}`, `"denny"`},
		"two at once":                {before, `{"deny":"x","arguments":{}}`, "2 members"},
		"a denial afterwards":        {after, `{"deny":"x"}`, "result"},
		"an answer afterwards":       {after, `{"answer":{}}`, "result"},
		"a result before":            {before, `{"result":{}}`, "arguments, deny, answer"},
		"arguments that are a list":  {before, `{"arguments":[1]}`, "object"},
		"arguments that are null":    {before, `{"arguments":null}`, "object"},
		"a reason that is null":      {before, `{"deny":null}`, "string"},
		"a reason that is true":      {before, `{"deny":true}`, "string"},
		"a result of another form":   {after, `{"result":{"contents":[]}}`, "contents"},
		"a result that is a text":    {after, `{"result":"x"}`, "cannot be used"},
		"a block that is no JSON":    {after, `{"result":{"content":[{"json":"eyI="}]}}`, "block 1"},
		"a block of nothing":         {after, `{"result":{"content":[{}]}}`, "block 1"},
		"an effect that is no JSON":  {after, `{"result":{"effects":[{"key":"k","value":"eyI="}]}}`, "effect 1"},
		"metadata that are no JSON":  {after, `{"result":{"metadata":{"k":"eyI="}}}`, `"k"`},
		"an answer that is no reply": {before, `{"answer":[]}`, "cannot be used"},
	} {
		t.Run(name, func(t *testing.T) {
			result := tool.Result{Content: []tool.Content{tool.JSON(json.RawMessage(tc.text))}}
			if tc.text == "" {
				result = tool.TextResult("fine with me")
			}
			got, err := filterjson.DecodeAnswer(tc.phase, result)
			if err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("got %+v, %v; want an error with %q", got, err, tc.says)
			}
		})
	}
	if _, err := filterjson.DecodeAnswer(before, tool.ErrorResult("I broke")); err == nil || !strings.Contains(err.Error(), "I broke") {
		t.Errorf("a filter that failed gave %v", err)
	}
}

func TestInvalidJSONIsNotEncoded(t *testing.T) {
	broken := tool.Result{Content: []tool.Content{tool.JSON(json.RawMessage(`{`))}}
	if _, err := filterjson.EncodeRequest(filterjson.Request{Phase: filterjson.After, Result: &broken}); err == nil {
		t.Error("a question with a broken result was encoded")
	}
	if _, err := filterjson.EncodeRequest(filterjson.Request{Phase: filterjson.Before, Arguments: json.RawMessage(`{`)}); err == nil {
		t.Error("a question with broken arguments was encoded")
	}
	if _, err := filterjson.EncodeAnswer(filterjson.Answer{Result: &broken}); err == nil {
		t.Error("an answer with a broken result was encoded")
	}
	if _, err := filterjson.EncodeAnswer(filterjson.Answer{Arguments: json.RawMessage(`{`)}); err == nil {
		t.Error("an answer with broken arguments was encoded")
	}
}

// Every answer has one meaning or is refused.
func FuzzDecodeAnswer(f *testing.F) {
	for _, seed := range []string{`{}`, `{"arguments":{"a":1}}`, `{"deny":"x"}`, `{"answer":{"content":[{"text":"x"}]}}`, `{"result":{"isError":true}}`} {
		f.Add(true, []byte(seed))
		f.Add(false, []byte(seed))
	}
	f.Fuzz(func(t *testing.T, before bool, text []byte) {
		phase := filterjson.After
		if before {
			phase = filterjson.Before
		}
		a, err := filterjson.DecodeAnswer(phase, tool.Result{Content: []tool.Content{tool.JSON(text)}})
		if err != nil {
			return
		}
		encoded, err := filterjson.EncodeAnswer(a)
		if err != nil {
			t.Fatalf("%s was understood and cannot be said again: %v", text, err)
		}
		if _, err := filterjson.DecodeAnswer(phase, encoded); err != nil {
			t.Fatalf("%s was understood, and is not the second time: %v", text, err)
		}
	})
}
