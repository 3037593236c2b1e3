package conformance

import (
	"crypto/rand"
	"encoding/json"
	"slices"
	"strings"

	pluginv1 "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
	"github.com/toolhost/toolhost/internal/text/arguments"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/tool"
)

// unknownToolName is the name of a tool that no plugin has.
const unknownToolName = "toolhost_verify_no_such_tool"

const (
	// mostExamples bounds the examples of one tool that are called.
	mostExamples = 5
	// mostTargets bounds the tools that are called.
	mostTargets = 50
)

// target is a tool that can be called, and its arguments.
type target struct {
	spec      *tool.Spec
	arguments []json.RawMessage // at least one
	again     bool              // may be called any number of times
	// The arguments were made from the schema; they fit it, but may be meaningless.
	guessed  bool
	executed *pluginv1.StartCall // the last call that ended with a result that is no error; nil: none
}

// targets returns the tools that can be called, the most useful first, and the reason for each
// other tool.
func (x *examiner) targets() (found []target, passed map[string]string) {
	passed = map[string]string{}
	for i := range x.described.Tools {
		spec := &x.described.Tools[i]
		if t, why := x.target(spec); why != "" {
			passed[spec.Name] = why
		} else {
			found = append(found, t)
		}
	}
	slices.SortStableFunc(found, func(a, b target) int { return b.rank() - a.rank() })
	if len(found) > mostTargets {
		found = found[:mostTargets]
	}
	return found, passed
}

// rank returns how useful a target is. Tools that may be called again, and tools that take text,
// are more useful.
func (t *target) rank() int {
	rank := 0
	if t.again {
		rank += 2
	}
	if _, takes := withText(t.spec.InputSchema, t.arguments[0], "x"); takes {
		rank++
	}
	return rank
}

func (x *examiner) target(spec *tool.Spec) (t target, why string) {
	chosen := x.cfg.Tool == spec.Name
	t = target{spec: spec, again: chosen || !spec.HasSideEffects()}
	schema, err := arguments.Compile(spec.InputSchema)
	switch {
	case x.cfg.Tool != "" && !chosen:
		return t, "another tool was asked for"
	case err != nil:
		return t, "its schema cannot be used"
	case len(spec.RequiresAuth) > 0:
		return t, "it needs secrets"
	case spec.Dangerous && !chosen:
		return t, "it is dangerous; it is called if --tool names it"
	case chosen && len(x.cfg.Arguments) > 0:
		t.arguments = []json.RawMessage{x.cfg.Arguments}
		return t, ""
	}
	for _, example := range spec.InputExamples[:min(len(spec.InputExamples), mostExamples)] {
		if fits(schema, example.Arguments) {
			t.arguments = append(t.arguments, example.Arguments)
		}
	}
	if len(t.arguments) > 0 {
		return t, ""
	}
	if !chosen && !spec.ReadOnly {
		return t, "it has no example, and may change something"
	}
	made, ok := sample(spec.InputSchema)
	if !ok || !fits(schema, made) {
		return t, "it has no example, and none could be made from its schema"
	}
	t.arguments, t.guessed = []json.RawMessage{made}, true
	return t, ""
}

func fits(schema *arguments.Schema, text json.RawMessage) bool {
	parsed, err := arguments.Parse(text)
	return err == nil && schema.Validate(parsed) == nil
}

// anyTool returns the name of a tool of the plugin, or "".
func (x *examiner) anyTool() string {
	if len(x.described.Tools) == 0 {
		return unknownToolName
	}
	if x.cfg.Tool != "" {
		return x.cfg.Tool
	}
	return x.described.Tools[0].Name
}

// call returns a call of a tool with complete arguments.
func (x *examiner) call(name string, arguments json.RawMessage) *pluginv1.StartCall {
	return &pluginv1.StartCall{
		CallId: x.nextCall(), EffectKey: strings.ToLower(rand.Text()), Tool: name, Arguments: arguments, Complete: true, Attempt: 1,
		Timeout: toolpb.FromDuration(x.cfg.Timeout),
		Context: &pluginv1.CallContext{Session: "verify", Workspace: x.cfg.Workspace},
	}
}

// incomplete returns a call of a tool whose arguments never become complete.
func (x *examiner) incomplete(name string) *pluginv1.StartCall {
	start := x.call(name, []byte("{"))
	start.Complete, start.Timeout = false, nil
	return start
}
