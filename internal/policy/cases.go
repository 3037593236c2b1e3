package policy

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/toolhost/toolhost/internal/yamldoc"
	"github.com/toolhost/toolhost/tool"
)

// Case is an example of a call and of what is to become of it.
type Case struct {
	Name         string
	Line, Column int // where it stands in its file, from 1
	Input        Input
	Expect       Verdict
	Rule         *string // the rule that has to decide, empty for none; nil: whichever
}

// ReadCases reads a file of cases strictly; the name stands for it in errors, which say line and column.
func ReadCases(name string, data []byte) ([]Case, error) {
	root, err := yamldoc.Document{Name: name}.Parse(data)
	if err != nil {
		return nil, err
	}
	var fields []yamldoc.Field
	if !root.IsZero() {
		if fields, err = root.Fields("the file", "cases"); err != nil {
			return nil, err
		}
	}
	if len(fields) == 0 {
		return nil, root.Errorf("the file has no cases; begin it with the key cases, and write a list below it")
	}
	items, err := fields[0].Value.Items("cases")
	if err != nil {
		return nil, err
	}
	if len(items) == 0 {
		return nil, fields[0].Errorf("there are no cases")
	}
	cases := make([]Case, len(items))
	for i, item := range items {
		if cases[i], err = readCase(item); err != nil {
			return nil, err
		}
	}
	return cases, nil
}

func readCase(item yamldoc.Node) (c Case, err error) {
	fields, err := item.Fields("a case", "name", "principal", "session", "call_id", "context", "tool", "arguments", "expect", "rule")
	if err != nil {
		return c, err
	}
	c.Line, c.Column = item.Place()
	for _, f := range fields {
		if err := c.read(f); err != nil {
			return c, err
		}
	}
	for _, needed := range []string{"name", "tool", "expect"} {
		if !slices.ContainsFunc(fields, func(f yamldoc.Field) bool { return f.Key == needed }) {
			return c, item.Errorf("the case has no %s", needed)
		}
	}
	return c, nil
}

// read reads one field of a case.
func (c *Case) read(f yamldoc.Field) (err error) {
	switch f.Key {
	case "name":
		c.Name, err = f.Value.Text(f.Key)
	case "principal":
		c.Input.Principal, err = f.Value.Text(f.Key)
	case "session":
		c.Input.Session, err = f.Value.Text(f.Key)
	case "call_id":
		c.Input.CallID, err = f.Value.Text(f.Key)
	case "context":
		c.Input.Context, err = readValues(f)
	case "tool":
		c.Input.Tool, c.Input.Plugin, err = readTool(f.Value)
	case "arguments":
		if _, err = f.Value.Fields(f.Key); err == nil {
			c.Input.Arguments, err = f.Value.JSON("an argument")
		}
	case "expect":
		var verdict string
		verdict, err = f.Value.Choice(f.Key, string(Allow), string(Deny), string(RequireApproval))
		c.Expect = Verdict(verdict)
	case "rule":
		var rule string
		rule, err = f.Value.Text(f.Key)
		c.Rule = &rule
	}
	return err
}

// readValues reads the values of a context.
func readValues(f yamldoc.Field) (map[string]json.RawMessage, error) {
	fields, err := f.Value.Fields(f.Key)
	if err != nil {
		return nil, err
	}
	values := make(map[string]json.RawMessage, len(fields))
	for _, value := range fields {
		if values[value.Key], err = value.Value.JSON("a value of the context"); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// readTool reads what a tool declares, as far as rules may speak of it, and the name of its plugin.
func readTool(n yamldoc.Node) (spec *tool.Spec, plugin string, err error) {
	fields, err := n.Fields("tool", toolProperties()...)
	if err != nil {
		return nil, "", err
	}
	spec = &tool.Spec{}
	for _, f := range fields {
		switch f.Key {
		case "name":
			if spec.Name, err = f.Value.Text(f.Key); err == nil {
				err = checkName(f.Value, spec.Name)
			}
		case "plugin":
			plugin, err = f.Value.Text(f.Key)
		case "category":
			spec.Category, err = f.Value.Text(f.Key)
		case "version":
			spec.Version, err = f.Value.Text(f.Key)
		case "tags":
			spec.Tags, err = f.Value.Texts(f.Key)
		case "dangerous":
			spec.Dangerous, err = f.Value.Bool(f.Key)
		case "read_only":
			spec.ReadOnly, err = f.Value.Bool(f.Key)
		case "idempotent":
			spec.Idempotent, err = f.Value.Bool(f.Key)
		case "cost_per_use":
			spec.CostPerUse, err = f.Value.Number(f.Key, maxToolCost)
		}
		if err != nil {
			return nil, "", err
		}
	}
	if spec.Name == "" {
		return nil, "", n.Errorf("the tool has no name")
	}
	return spec, plugin, nil
}

// maxToolCost is more than any use of a tool costs.
const maxToolCost = 1e12

func checkName(n yamldoc.Node, name string) error {
	if err := tool.CheckName(name); err != nil {
		return n.Errorf("%w", err)
	}
	return nil
}

// Check decides on the case's call, and reports whether the decision is the one expected. The error is ctx's.
func (c *Case) Check(ctx context.Context, p *Policy) (got Decision, passed bool, err error) {
	got = p.Decide(ctx, c.Input)
	if err := ctx.Err(); err != nil && errors.Is(got.Err, err) {
		return got, false, err
	}
	return got, got.Then == c.Expect && (c.Rule == nil || *c.Rule == got.Rule), nil
}
