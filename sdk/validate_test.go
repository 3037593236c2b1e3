package sdk_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/sdk"
)

func echo(context.Context, struct{}) (string, error) { return "", nil }

func toolWith[In any](spec sdk.Spec) sdk.Tool {
	if spec.Name == "" {
		spec.Name = "x"
	}
	if spec.Description == "" {
		spec.Description = "x"
	}
	return sdk.Func(spec, func(context.Context, In) (string, error) { return "", nil })
}

func settled[In any](context.Context, In) (sdk.Settlement, error) { return sdk.Settlement{}, nil }

type recursive struct {
	Children []recursive `json:"children"`
}

type badPartial struct{}

func (badPartial) Call(context.Context, struct{}) (string, error) { return "", nil }
func (badPartial) Partial(string)                                 {}
func (badPartial) Close()                                         {}

type goodPartial struct{}

func (goodPartial) Call(context.Context, struct{}) (string, error) { return "", nil }
func (goodPartial) Partial(context.Context, struct{})              {}

type noPartial struct{}

func (noPartial) Call(context.Context, struct{}) (string, error) { return "", nil }

func open[O any]() func(context.Context) (O, error) {
	return func(context.Context) (o O, err error) { return o, nil }
}

func TestValidateRefuses(t *testing.T) {
	spec := sdk.Spec{Name: "x", Description: "x"}
	partial := sdk.Spec{Name: "x", Description: "x", PartialArguments: true}
	tests := map[string]struct {
		tool    sdk.Tool
		problem string
	}{
		"no name":                 {sdk.Func(sdk.Spec{Description: "x"}, echo), "tool number 1: the name is empty"},
		"bad name":                {sdk.Func(sdk.Spec{Name: "a b", Description: "x"}, echo), `the name "a b" is ill-formed`},
		"no description":          {sdk.Func(sdk.Spec{Name: "x", Description: " "}, echo), `tool "x": its description is empty`},
		"no function":             {sdk.Func[struct{}, string](spec, nil), "its function is nil"},
		"no opener":               {sdk.Object[noPartial](spec, nil), "opens an object is nil"},
		"no code":                 {sdk.Tool{}, "make it with Func or Object"},
		"seals without a check":   {toolWith[struct{}](sdk.Spec{Seals: true}), "has no check; use Settle"},
		"settles without a check": {toolWith[struct{}](sdk.Spec{Settles: true}), "has no check; use Settle"},
		"check of read-only":      {sdk.Settle(toolWith[struct{}](sdk.Spec{ReadOnly: true}), settled[struct{}]), "a call that changes nothing needs none"},
		"check of other input":    {sdk.Settle(toolWith[struct{}](sdk.Spec{}), settled[named]), "its check of unknown outcomes takes a sdk_test.named, but its calls take a struct {}"},
		"nil check":               {sdk.Settle[struct{}](toolWith[struct{}](sdk.Spec{}), nil), "its check of unknown outcomes is nil"},

		"negative timeout":     {toolWith[struct{}](sdk.Spec{Timeout: -time.Second}), "negative"},
		"metadata":             {toolWith[struct{}](sdk.Spec{Metadata: map[string]json.RawMessage{"k": json.RawMessage("{")}}), `metadata "k" is not JSON`},
		"own schema":           {toolWith[json.RawMessage](sdk.Spec{InputSchema: json.RawMessage(`{"type":"objekt"}`)}), "its input schema"},
		"own schema no JSON":   {toolWith[json.RawMessage](sdk.Spec{InputSchema: json.RawMessage(`{`)}), "not JSON"},
		"own schema no object": {toolWith[json.RawMessage](sdk.Spec{InputSchema: json.RawMessage(`{"type":"string"}`)}), `must have "type": "object"`},
		"output schema":        {toolWith[struct{}](sdk.Spec{OutputSchema: json.RawMessage(`{"type":7}`)}), "its output schema"},
		"example":              {toolWith[nested](sdk.Spec{InputExamples: []sdk.InputExample{{Arguments: json.RawMessage(`{"lat":91}`)}}}), "its input example 1"},

		"input no object": {toolWith[string](sdk.Spec{}), "its input is of type string"},
		"input a time":    {toolWith[time.Time](sdk.Spec{}), "no object in JSON"},
		"chan": {toolWith[struct {
			In []struct{ C chan int }
		}](sdk.Spec{}), "field In[].C: a value of type chan int has no JSON form"},
		"func":      {toolWith[struct{ F func() }](sdk.Spec{}), "field F: a value of type func() has no JSON form"},
		"map keys":  {toolWith[struct{ M map[int]string }](sdk.Spec{}), "use string keys"},
		"recursive": {toolWith[recursive](sdk.Spec{}), "field Children[]: the type sdk_test.recursive contains itself"},
		"json string": {toolWith[struct {
			N int `json:"n,string"`
		}](sdk.Spec{}), "the json option string is not supported"},
		"embedded name": {toolWith[struct {
			embedded `json:"e"`
		}](sdk.Spec{}), "an embedded struct with a json name"},

		"embedded string":  {toolWith[struct{ named }](sdk.Spec{}), "only structs can be embedded"},
		"embedded pointer": {toolWith[struct{ *embedded }](sdk.Spec{}), "embed the struct itself"},
		"interface":        {toolWith[struct{ R fmt.Stringer }](sdk.Spec{}), "nothing can be decoded into the interface fmt.Stringer"},
		"same name": {toolWith[struct {
			embedded
			Other int `json:"page"`
		}](sdk.Spec{}), "field page: another field has that name in JSON"},
		"default of a wrong type": {toolWith[struct {
			A struct {
				N int `json:"n" default:"one"`
			} `json:"a"`
		}](sdk.Spec{}), `field a.n: the tag default:"one"`},
		"default out of range": {toolWith[struct {
			N int `json:"n" default:"0" minimum:"1"`
		}](sdk.Spec{}), "field n: "},
		"default not in enum": {toolWith[struct {
			N string `json:"n" default:"x" enum:"a,b"`
		}](sdk.Spec{}), "field n: "},
		"example out of range": {toolWith[struct {
			N int `json:"n" examples:"1,20" maximum:"10"`
		}](sdk.Spec{}), "the example 20"},
		"enum out of range": {toolWith[struct {
			N int `json:"n" enum:"1,20" maximum:"10"`
		}](sdk.Spec{}), "the enum value 20"},
		"minimum no number": {toolWith[struct {
			N int `json:"n" minimum:"one"`
		}](sdk.Spec{}), `the tag minimum:"one": want a number`},
		"minimum of a string": {toolWith[struct {
			N string `json:"n" minimum:"1"`
		}](sdk.Spec{}), "only numbers have it"},
		"minLength negative": {toolWith[struct {
			N string `json:"n" minLength:"-1"`
		}](sdk.Spec{}), "want a whole number"},
		"minItems of a string": {toolWith[struct {
			N string `json:"n" minItems:"1"`
		}](sdk.Spec{}), "only a value of type array has it"},
		"pattern": {toolWith[struct {
			N string `json:"n" pattern:"("`
		}](sdk.Spec{}), "field n: "},
		"pattern of a number": {toolWith[struct {
			N int `json:"n" pattern:"1"`
		}](sdk.Spec{}), "only a value of type string has it"},
		"output": {sdk.Func(spec, func(context.Context, struct{}) (struct{ C chan int }, error) { return struct{ C chan int }{}, nil }), "its output: field C"},

		"partial of a function":   {sdk.Func(partial, echo), "use Object"},
		"partial signature":       {sdk.Object(spec, open[badPartial]()), "must be Partial(context.Context, struct {})"},
		"close signature":         {sdk.Object(spec, open[badPartial]()), "must be Close() error"},
		"partial is not declared": {sdk.Object(spec, open[goodPartial]()), "does not declare PartialArguments"},
		"partial is not there":    {sdk.Object(partial, open[noPartial]()), "has no method Partial"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := sdk.Plugin{Name: "p", Tools: []sdk.Tool{tt.tool}}.Validate()
			if err == nil {
				t.Fatal("it validates")
			}
			if !strings.Contains(err.Error(), tt.problem) {
				t.Errorf("the error says\n%v\nwant %q in it", err, tt.problem)
			}
		})
	}
}

func TestValidateNamesEveryProblem(t *testing.T) {
	err := sdk.Plugin{Name: "1", Tools: []sdk.Tool{
		sdk.Func(sdk.Spec{Name: "same", Description: "x"}, echo),
		sdk.Func(sdk.Spec{Name: "same"}, echo),
		toolWith[string](sdk.Spec{Name: "other"}),
	}}.Validate()
	if err == nil {
		t.Fatal("it validates")
	}
	for _, want := range []string{
		`the plugin: the name "1"`,
		`tool "same": another tool of the plugin has that name`,
		`tool "same": its description is empty`,
		`tool "other": its input is of type string`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error says\n%v\nwant %q in it", err, want)
		}
	}
	if got := strings.Count(err.Error(), "\n") + 1; got != 4 {
		t.Errorf("%d lines, want one for each of 4 problems:\n%v", got, err)
	}
	if err := (sdk.Plugin{Name: "p"}).Validate(); err == nil || !strings.Contains(err.Error(), "no tools") {
		t.Errorf("a plugin without tools: %v", err)
	}
}
