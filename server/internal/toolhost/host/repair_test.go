package host_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/server/internal/toolhost/policy"
	"github.com/toolhost/toolhost/tool"
)

// mirrors returns tools that answer with the arguments that they get: one with repair, one with
// preview and repair, and a strict one.
func mirrors() []hosttest.Tool {
	mirror := func(_ context.Context, c tool.Call, _ func(tool.Event)) (tool.Result, error) {
		r := tool.TextResult(string(c.Arguments))
		r.Metadata = map[string]json.RawMessage{"own": json.RawMessage(`1`)}
		return r, nil
	}
	spec := func(name string) tool.Spec {
		return tool.Spec{Name: name, Description: "Answers with its arguments.", InputSchema: json.RawMessage(
			`{"type":"object","properties":{"days":{"type":"integer","maximum":14},"units":{"type":"string","default":"metric"}},"required":["days"]}`)}
	}
	plain, strict, preview := spec("plain"), spec("strict"), spec("preview")
	strict.Strict, preview.PartialArguments = true, true
	return []hosttest.Tool{
		{Spec: plain, Run: mirror}, {Spec: strict, Run: mirror},
		{Spec: preview, Run: mirror, Preview: func(_ []byte, emit func(tool.Event)) {
			emit(tool.Event{Status: &tool.Status{State: tool.StatusWait, Message: "seen"}})
		}},
	}
}

const (
	almost   = `{ "days": "99" }`
	mended   = `{"days":14,"units":"metric"}`
	mendings = `[{"path":"days","from":"99","to":14,"why":"it was out of bounds"},` +
		`{"path":"units","to":"metric","why":"it was missing and has a default"}]`
)

// checkMirror checks which arguments the tool got, and what the result says about their repair.
func checkMirror(t *testing.T, got tool.Outcome, arguments, repairs string) {
	t.Helper()
	if got.Err != nil || got.Result.IsError || got.Result.Text() != arguments {
		t.Errorf("the tool gave %+v, want %s", got, arguments)
	}
	want := map[string]string{"own": "1"}
	if repairs != "" {
		want["toolhost.repairs"] = repairs
	}
	if diff := cmp.Diff(want, texts(got.Result.Metadata)); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
}

func texts(values map[string]json.RawMessage) map[string]string {
	out := map[string]string{}
	for key, value := range values {
		out[key] = string(value)
	}
	return out
}

// The tool gets repaired arguments that fit the schema, and the result lists the repairs. Arguments
// that fit reach the tool unchanged.
func TestRepairedCall(t *testing.T) {
	r := newRig(t, mirrors(), nil)
	checkMirror(t, outcome(t, r, call("plain", almost)), mended, mendings)
	untouched := `{ "units": "si", "days": 3 }`
	checkMirror(t, outcome(t, r, call("plain", untouched)), untouched, "")
}

// Two calls are the same if their callers sent the same arguments, whatever the repair changed.
func TestRepairIsNoConflict(t *testing.T) {
	r := newRig(t, mirrors(), nil)
	c := call("plain", almost)
	c.ID = "once"
	outcome(t, r, c)
	again := outcome(t, r, c)
	if !again.Replayed {
		t.Errorf("the same call gave %+v", again)
	}
	checkMirror(t, again, mended, mendings)
	c.Arguments = []byte(mended)
	if got := outcome(t, r, c); got.Err == nil || got.Err.Kind != tool.KindConflict {
		t.Errorf("other arguments that come to the same gave %+v", got)
	}
}

// Two calls are the same if their arguments have the same JSON value, in any notation.
func TestNumbersWrittenOtherwiseAreNoConflict(t *testing.T) {
	r := newRig(t, mirrors(), nil)
	c := call("plain", `{"units":"si","days":3}`)
	c.ID = "once"
	outcome(t, r, c)
	for arguments, same := range map[string]bool{`{"days":3.0,"units":"si"}`: true, `{"units":"si","days":30e-1}`: true, `{"units":"si","days":3.5}`: false} {
		c.Arguments = []byte(arguments)
		got := outcome(t, r, c)
		if same && (got.Err != nil || !got.Replayed) || !same && (got.Err == nil || got.Err.Kind != tool.KindConflict) {
			t.Errorf("%s gave %+v", arguments, got)
		}
	}
}

// A strict tool refuses arguments that do not fit, and gets no defaults.
func TestStrictToolsGetNoRepair(t *testing.T) {
	r := newRig(t, mirrors(), nil)
	if got := outcome(t, r, call("strict", almost)); !got.Result.IsError || got.Result.Metadata != nil {
		t.Errorf("got %+v", got)
	}
	checkMirror(t, outcome(t, r, call("strict", `{"days":3.0}`)), `{"days":3.0}`, "")
}

// The message for the model includes what the repair has already changed.
func TestRepairThatDoesNotSuffice(t *testing.T) {
	r := newRig(t, mirrors(), nil)
	got := outcome(t, r, call("plain", `{"days":"soon"}`))
	want := map[string]string{"toolhost.repairs": `[{"path":"units","to":"metric","why":"it was missing and has a default"}]`}
	if diff := cmp.Diff(want, texts(got.Result.Metadata)); !got.Result.IsError || diff != "" {
		t.Errorf("got %+v, metadata (-want +got):\n%s", got, diff)
	}
	if n := r.started(); n != 0 {
		t.Errorf("%d processes were started", n)
	}
}

// A tool that declares another name of a parameter gets the parameter under its own name. Rules and
// the person who approves see no other name, so that it evades no rule, and callers see no other
// name in the schema.
func TestRulesSeeNoAlias(t *testing.T) {
	rules, err := policy.Compile([]policy.Rule{
		{Name: "no-etc", When: `has(arguments.path) && arguments.path.startsWith("/etc")`, Then: policy.Deny},
		{Name: "ask", When: `arguments.path.startsWith("/srv")`, Then: policy.RequireApproval},
	})
	if err != nil {
		t.Fatal(err)
	}
	aliased := mirrors()[0]
	aliased.Spec.InputSchema = json.RawMessage(`{"type":"object","properties":{"path":{"type":"string","x-toolhost-aliases":["file_path"]}}}`)
	r := newRig(t, []hosttest.Tool{aliased}, func(c *host.Config) { c.Policy = rules })
	checkMirror(t, outcome(t, r, call("plain", `{"file_path":"/tmp/a"}`)), `{"path":"/tmp/a"}`,
		`[{"path":"path","from":"/tmp/a","to":"/tmp/a","why":"it was sent as \"file_path\", another name of it"}]`)
	if got := outcome(t, r, call("plain", `{"file_path":"/etc/passwd"}`)); got.Err == nil || got.Err.Kind != tool.KindDenied || got.Err.Rule != "no-etc" {
		t.Errorf("the forbidden path gave %+v", got)
	}
	if got := outcome(t, r, call("plain", `{"file_path":"/srv/a"}`)); got.Err == nil || string(got.Err.Arguments) != `{"path":"/srv/a"}` {
		t.Errorf("the person would see %+v", got)
	}
	info, err := r.GetTool(t.Context(), "plain", tool.Viewer{})
	if want := `{"type":"object","properties":{"path":{"type":"string"}}}`; err != nil || string(info.Spec.InputSchema) != want {
		t.Errorf("callers see %s, %v", info.Spec.InputSchema, err)
	}
}

// A plugin that has previewed the text executes the repaired arguments in its place.
func TestRepairAfterPreview(t *testing.T) {
	for name, tc := range map[string]struct{ begin, rest, want, repairs string }{
		"shorter than the text": {`{"days":             `, `"99","units":"si"}`, `{"days":14,"units":"si"}`,
			`[{"path":"days","from":"99","to":14,"why":"it was out of bounds"}]`},
		"longer than the text": {`{"da`, `ys":"99"}`, mended, mendings},
		"nothing to repair":    {`{"days":`, ` 3,"units":"si"}`, `{"days": 3,"units":"si"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := newRig(t, mirrors(), nil).Open(t.Context(), call("preview", tc.begin), false)
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			untilStatus(t, e, "seen")
			if err := e.Send(t.Context(), []byte(tc.rest), true); err != nil {
				t.Fatal(err)
			}
			checkMirror(t, end(t, e), tc.want, tc.repairs)
		})
	}
}

// Only toolhost can set metadata under toolhost's own keys.
func TestPluginsDoNotSpeakForToolhost(t *testing.T) {
	liar := hosttest.Tool{
		Spec: tool.Spec{Name: "liar", Description: "Says what it should not."},
		Run: func(context.Context, tool.Call, func(tool.Event)) (tool.Result, error) {
			result := tool.TextResult("ok")
			result.Metadata = map[string]json.RawMessage{"toolhost.repairs": json.RawMessage(`[]`), "own": json.RawMessage(`1`)}
			return result, nil
		},
	}
	got := outcome(t, newRig(t, []hosttest.Tool{liar}, nil), call("liar", "{}"))
	if len(got.Result.Metadata) != 1 || string(got.Result.Metadata["own"]) != "1" {
		t.Errorf("the metadata is %s", got.Result.Metadata)
	}
}

// A property that resembles a declared one is reported with the result, or refused.
func TestMisspelledArguments(t *testing.T) {
	const given, told = `{"days":3,"unit":"si"}`, `[{"path":"unit","like":"units"}]`
	for _, refuse := range []bool{false, true} {
		r := newRig(t, mirrors(), func(cfg *host.Config) { cfg.RefuseMisspelled = refuse })
		for _, name := range []string{"plain", "strict"} {
			got := outcome(t, r, call(name, given))
			switch {
			case !refuse && (got.Result.IsError || string(got.Result.Metadata["toolhost.undeclared"]) != told):
				t.Errorf("%s: got %+v", name, got)
			case refuse && (!got.Result.IsError || !strings.Contains(got.Result.Text(), `unit: is not declared; did you mean "units"?`)):
				t.Errorf("%s, refused: got %+v", name, got)
			}
		}
	}
}

// A tool gets an empty object if its caller sent only white space.
func TestBlankArguments(t *testing.T) {
	optional := mirrors()[1]
	optional.Spec.Name, optional.Spec.InputSchema = "optional", json.RawMessage(`{"type":"object"}`)
	preview := optional
	preview.Spec.Name, preview.Spec.PartialArguments, preview.Preview = "seen", true, func([]byte, func(tool.Event)) {}
	r := newRig(t, []hosttest.Tool{optional, preview}, nil)
	for _, name := range []string{"optional", "seen"} {
		for _, blank := range []string{" ", "\n\t "} {
			if got := outcome(t, r, call(name, blank)); got.Err != nil || got.Result.Text() != "{}" {
				t.Errorf("%s with %q: got %+v", name, blank, got)
			}
		}
	}
}

// A text that holds the markup of a parameter reaches the tool as it was sent, and the result warns
// the model, also the result of a repeat.
func TestLeakedParameters(t *testing.T) {
	note := mirrors()[0]
	note.Spec.Name = "note"
	note.Spec.InputSchema = json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"},"loud":{"type":"boolean"}}}`)
	r := newRig(t, []hosttest.Tool{note}, nil)
	const leaky = `{"text":"a\n</text>\n<parameter name=\"loud\">true</parameter>"}`
	for _, id := range []string{"once", "once", ""} {
		c := call("note", leaky)
		c.ID = id
		got := outcome(t, r, c)
		if got.Err != nil || got.Result.IsError || len(got.Result.Content) != 2 || got.Result.Content[0].Text != leaky ||
			!strings.Contains(got.Result.Content[1].Text, `Warning:`+"\n"+`- text: holds the markup of a parameter "loud", which was not sent; the tool got the text`) ||
			string(got.Result.Metadata["toolhost.leaked"]) != `[{"path":"text","name":"loud","declared":true}]` {
			t.Errorf("got %+v", got)
		}
	}
	checkMirror(t, outcome(t, r, call("note", `{"text":"</p>"}`)), `{"text":"</p>"}`, "")
}
