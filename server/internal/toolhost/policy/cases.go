package policy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/toolhost/toolhost/server/internal/text/yamldoc"
	"github.com/toolhost/toolhost/tool"
)

// Case is an example of a call, with the decision that the author of the policy expects.
type Case struct {
	Name         string
	Line, Column int // the position in the file, from 1
	Input        Input
	Expect       Verdict
	Rule         *string // the rule that must decide; empty: none; nil: any
}

// caseFile has the keys of a file of cases.
type caseFile struct {
	Cases []caseKeys `yaml:"cases" is:"case" required:"true" hint:"begin the file with the key cases, and write a list below it"`
}

// caseKeys has the keys of a case.
type caseKeys struct {
	Name      string                     `yaml:"name" required:"true"`
	Principal string                     `yaml:"principal" unset:"an empty text"`
	Groups    []string                   `yaml:"groups" is:"group" hint:"write a list of groups"`
	Via       string                     `yaml:"via" unset:"an empty text"`
	Session   string                     `yaml:"session" unset:"an empty text"`
	CallID    string                     `yaml:"call_id" unset:"an empty text"`
	Context   map[string]json.RawMessage `yaml:"context"`
	Tool      toolKeys                   `yaml:"tool" required:"true"`
	Arguments json.RawMessage            `yaml:"arguments"`
	Expect    string                     `yaml:"expect" required:"true" oneof:"allow,deny,require_approval,four_eyes"`
	Rule      *string                    `yaml:"rule" unset:"any rule"`
}

// toolKeys has the keys of a case's tool: the properties of a tool that rules can use.
type toolKeys struct {
	Name       string                     `yaml:"name" required:"true" is:"name"`
	Plugin     string                     `yaml:"plugin" unset:"an empty text"`
	Category   string                     `yaml:"category" unset:"an empty text"`
	Version    string                     `yaml:"version" unset:"an empty text"`
	Tags       []string                   `yaml:"tags" is:"tag" hint:"write a list of tags"`
	Dangerous  bool                       `yaml:"dangerous" unset:"false"`
	ReadOnly   bool                       `yaml:"read_only" unset:"false"`
	Idempotent bool                       `yaml:"idempotent" unset:"false"`
	CostPerUse float64                    `yaml:"cost_per_use" min:"0" max:"1e12" unset:"0"`
	Metadata   map[string]json.RawMessage `yaml:"metadata"`
}

// ReadCases parses a file of cases. Errors use name for the file. The error is the first fault of
// the file, with line and column.
func ReadCases(name string, data []byte) ([]Case, error) {
	d := yamldoc.NewDecoder(name)
	var f caseFile
	d.Decode(data, reflect.ValueOf(&f).Elem())
	if at, given := d.At["cases"]; given && len(f.Cases) == 0 && !d.Failed("cases") {
		d.Fail(at, "cases", "there are no cases")
	}
	for i, c := range f.Cases {
		key := fmt.Sprintf("cases[%d].arguments", i)
		if at, given := d.At[key]; given && !bytes.HasPrefix(c.Arguments, []byte("{")) && !d.Failed(key) {
			d.Fail(at, key, "the arguments are not a mapping")
		}
	}
	if err := d.First(); err != nil {
		return nil, err
	}
	cases := make([]Case, len(f.Cases))
	for i, c := range f.Cases {
		at := d.At[fmt.Sprintf("cases[%d]", i)]
		cases[i] = Case{
			Name: c.Name, Line: at.Line, Column: at.Column, Expect: Verdict(c.Expect), Rule: c.Rule,
			Input: Input{
				Principal: c.Principal, Groups: c.Groups, Via: c.Via, Session: c.Session, CallID: c.CallID, Context: c.Context, Arguments: c.Arguments,
				Tool: c.Tool.spec(), Plugin: c.Tool.Plugin,
			},
		}
	}
	return cases, nil
}

func (t toolKeys) spec() *tool.Spec {
	return &tool.Spec{
		Name: t.Name, Category: t.Category, Version: t.Version, Tags: t.Tags, Dangerous: t.Dangerous,
		ReadOnly: t.ReadOnly, Idempotent: t.Idempotent, CostPerUse: t.CostPerUse, Metadata: t.Metadata,
	}
}

// Check decides on the case's call, and reports whether the decision is the expected one. The only
// error is that of ctx.
func (c *Case) Check(ctx context.Context, p *Policy) (got Decision, passed bool, err error) {
	got = p.Decide(ctx, c.Input)
	if err := ctx.Err(); err != nil && errors.Is(got.Err, err) {
		return got, false, err
	}
	return got, got.Then == c.Expect && (c.Rule == nil || *c.Rule == got.Rule), nil
}
