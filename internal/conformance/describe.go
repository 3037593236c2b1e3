package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	pluginv1 "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
	"github.com/toolhost/toolhost/internal/arguments"
	"github.com/toolhost/toolhost/internal/rpc/toolpb"
	"github.com/toolhost/toolhost/tool"
)

// describe asks the plugin what it is, twice, and judges what it says. errNoDescription: it did not say.
func (x *examiner) describe(ctx context.Context, t *trial) error {
	said, err := t.ask(ctx)
	if err != nil {
		words := words(err)
		if t.exitsWithin(exitGrace) {
			words = "it ended when it was asked: " + t.ending()
			x.remember(t)
		}
		x.fail("describe.answer", "", "%s", words)
		return errNoDescription
	}
	x.pass("describe.answer", "")
	x.described = descriptionOf(said)
	if again, err := t.ask(ctx); err != nil {
		x.fail("describe.answer", "", "asked a second time: %s", words(err))
	} else if !proto.Equal(said, again) {
		x.fail("describe.same", "", "two answers one after the other differ%s", difference(said, again))
	} else {
		x.pass("describe.same", "")
	}
	x.askSelection(ctx, t)
	x.judgeWorkspace()
	x.judgeNames()
	for i := range x.described.Tools {
		x.judgeSpec(&x.described.Tools[i])
	}
	x.judgePermissions()
	if name := x.cfg.Tool; name != "" && !slices.ContainsFunc(x.described.Tools, func(s tool.Spec) bool { return s.Name == name }) {
		return tool.Errorf(tool.KindNotFound, "the plugin %q has no tool %q", x.described.Name, name)
	}
	return nil
}

// ask asks for tools, all if none is named.
func (t *trial) ask(ctx context.Context, tools ...string) (*pluginv1.DescribeResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, t.x.cfg.Timeout)
	defer cancel()
	return t.client.Describe(ctx, &pluginv1.DescribeRequest{Tools: tools})
}

func descriptionOf(said *pluginv1.DescribeResponse) tool.Description {
	d := tool.Description{
		Name: said.GetName(), Version: said.GetVersion(), Description: said.GetDescription(), DefaultTags: said.GetDefaultTags(),
		Permissions: toolpb.ToPermissions(said.GetPermissions()),
	}
	for _, spec := range said.GetTools() {
		d.Tools = append(d.Tools, toolpb.ToSpec(spec))
	}
	for _, f := range said.GetFilters() {
		d.Filters = append(d.Filters, tool.Filter{Name: f.GetName(), Description: f.GetDescription(), Before: f.GetBefore(), After: f.GetAfter()})
	}
	return d
}

// difference says in which tool two answers differ, if it is one.
func difference(a, b *pluginv1.DescribeResponse) string {
	if len(a.GetTools()) != len(b.GetTools()) {
		return fmt.Sprintf(": %d tools, then %d", len(a.GetTools()), len(b.GetTools()))
	}
	for i := range a.GetTools() {
		if !proto.Equal(a.GetTools()[i], b.GetTools()[i]) {
			return fmt.Sprintf(" in the tool %s", quote(a.GetTools()[i].GetName()))
		}
	}
	return ""
}

func (x *examiner) askSelection(ctx context.Context, t *trial) {
	const check = "describe.selection"
	if len(x.described.Tools) == 0 {
		x.skip(check, "it has no tools")
		return
	}
	name := x.described.Tools[0].Name
	said, err := t.ask(ctx, name, nobodysTool)
	if err != nil {
		x.fail(check, "", "asked for %s and a tool that it does not have: %s", quote(name), words(err))
		return
	}
	var got []string
	for _, spec := range said.GetTools() {
		got = append(got, spec.GetName())
	}
	if len(got) != 1 || got[0] != name {
		x.fail(check, "", "asked for %s and a tool that it does not have, it answers with %d tools: %s", quote(name), len(got), strings.Join(first(got, 5), ", "))
	}
	x.pass(check, "")
}

// judgeWorkspace looks at the workspace before any call.
func (x *examiner) judgeWorkspace() {
	const check = "describe.side_effects"
	if x.cfg.Workspace == "" {
		x.skip(check, "there is no workspace")
		return
	}
	entries, err := os.ReadDir(x.cfg.Workspace)
	if err != nil {
		x.skip(check, "the workspace cannot be read: %v", err)
		return
	}
	for _, entry := range entries {
		x.fail(check, "", "before any call, %s was in the workspace", quote(entry.Name()))
	}
	x.pass(check, "")
}

func (x *examiner) judgeNames() {
	d := &x.described
	if err := tool.CheckName(d.Name); err != nil {
		x.fail("describe.plugin", "", "%v", err)
	} else if m := x.cfg.ManifestName; m != "" && m != d.Name {
		x.fail("describe.plugin", "", "it says that its name is %q, but its plugin.yaml says %q", d.Name, m)
	}
	x.pass("describe.plugin", "")
	const check = "describe.tools"
	x.pass(check, "")
	if len(d.Tools)+len(d.Filters) == 0 {
		x.fail(check, "", "it has neither tools nor filters")
	}
	seen := map[string]bool{}
	name := func(what, name string) {
		if err := tool.CheckName(name); err != nil {
			x.fail(check, name, "%v", err)
		}
		if seen[name] {
			x.fail(check, name, "the name of the %s is declared twice", what)
		}
		seen[name] = true
	}
	for _, spec := range d.Tools {
		name("tool", spec.Name)
		if strings.TrimSpace(spec.Description) == "" {
			x.fail(check, spec.Name, "it has no description")
		}
	}
	for _, f := range d.Filters {
		name("filter", f.Name)
		if !f.Before && !f.After {
			x.fail(check, f.Name, "the filter is asked neither before nor after calls")
		}
	}
}

func (x *examiner) judgeSpec(spec *tool.Spec) {
	x.pass("describe.schemas", "")
	x.pass("describe.examples", "")
	x.pass("describe.declarations", "")
	input, err := arguments.Compile(spec.InputSchema)
	if err != nil {
		x.fail("describe.schemas", spec.Name, "its input schema cannot be used: %v", err)
	} else if kind := schemaType(spec.InputSchema); len(spec.InputSchema) > 0 && kind != "object" {
		x.fail("describe.schemas", spec.Name, "the type of its input schema is %s, not object", quote(kind))
	}
	if len(spec.OutputSchema) > 0 {
		if _, err := arguments.Compile(spec.OutputSchema); err != nil {
			x.fail("describe.schemas", spec.Name, "its output schema cannot be used: %v", err)
		}
	}
	for i, example := range spec.InputExamples {
		parsed, err := arguments.Parse(example.Arguments)
		if err == nil && input != nil {
			err = input.Validate(parsed)
		}
		if err != nil {
			x.fail("describe.examples", spec.Name, "its example %d, %s, does not fit: %v", i+1, quote(string(example.Arguments)), err)
		}
	}
	x.judgeDeclarations(spec)
}

// schemaType returns what a schema says about the type; "" if nothing.
func schemaType(schema json.RawMessage) string {
	var s struct {
		Type any `json:"type"`
	}
	if json.Unmarshal(schema, &s) != nil || s.Type == nil {
		return ""
	}
	return fmt.Sprint(s.Type)
}

func (x *examiner) judgeDeclarations(spec *tool.Spec) {
	complain := func(format string, args ...any) { x.fail("describe.declarations", spec.Name, format, args...) }
	for key, value := range spec.Metadata {
		if !validJSON(value) {
			complain("the metadata %s is %s, which is no JSON", quote(key), quote(string(value)))
		}
	}
	if spec.Timeout < 0 || spec.Retry.InitialBackoff < 0 || spec.Retry.MaxBackoff < 0 {
		complain("a duration is negative")
	}
	if spec.CostPerUse < 0 {
		complain("its cost is %v, less than nothing", spec.CostPerUse)
	}
	if spec.ReadOnly && spec.Dangerous {
		complain("it is declared both read_only, which changes nothing, and dangerous")
	}
	for _, name := range slices.Concat(spec.RequiresAuth, spec.ContextKeys, spec.EffectKeys, spec.Tags) {
		if strings.TrimSpace(name) == "" {
			complain("the name of a secret, context key or tag is empty")
		}
	}
}

func (x *examiner) judgePermissions() {
	for _, path := range slices.Concat(x.described.Permissions.Read, x.described.Permissions.Write) {
		if !filepath.IsAbs(path) {
			x.fail("describe.declarations", "", "it asks for the path %s, which is not absolute", quote(path))
		}
	}
}
