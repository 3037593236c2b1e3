package conformance

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	pluginv1 "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/tool"
)

// describe asks the plugin for its description twice, and judges the answers. It returns
// errNoDescription if there is none.
func (x *examiner) describe(ctx context.Context, t *trial) error {
	said, err := t.ask(ctx)
	if err != nil {
		words := words(err)
		if t.exitsWithin(exitGrace) {
			words = "it ended when it was asked: " + t.ending()
			x.remember(t)
		}
		x.findings.fail("describe.answer", "", "%s", words)
		return errNoDescription
	}
	x.findings.pass("describe.answer", "")
	x.described = descriptionOf(said)
	if again, err := t.ask(ctx); err != nil {
		x.findings.fail("describe.answer", "", "asked a second time: %s", words(err))
	} else if !proto.Equal(said, again) {
		x.findings.fail("describe.same", "", "two answers one after the other differ%s", difference(said, again))
	} else {
		x.findings.pass("describe.same", "")
	}
	x.askSelection(ctx, t)
	x.judgeWorkspace()
	d := declarations{x.findings, &x.described}
	d.judgeNames(x.cfg.ManifestName)
	for i := range x.described.Tools {
		d.judgeSpec(&x.described.Tools[i])
	}
	d.judgePermissions()
	if name := x.cfg.Tool; name != "" && !slices.ContainsFunc(x.described.Tools, func(s tool.Spec) bool { return s.Name == name }) {
		return tool.Errorf(tool.KindNotFound, "the plugin %q has no tool %q", x.described.Name, name)
	}
	return nil
}

// ask asks for the description of tools, or of all if none is named.
func (t *trial) ask(ctx context.Context, tools ...string) (*pluginv1.DescribeResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, t.x.cfg.Timeout)
	defer cancel()
	return t.client.Describe(ctx, &pluginv1.DescribeRequest{Tools: tools})
}

func descriptionOf(said *pluginv1.DescribeResponse) tool.Description {
	d := tool.Description{
		Name: said.GetName(), Version: said.GetVersion(), Description: said.GetDescription(), DefaultTags: said.GetDefaultTags(),
		Permissions: toolpb.ToPermissions(said.GetPermissions()), SDK: toolpb.ToSDK(said.GetSdk()),
	}
	for _, spec := range said.GetTools() {
		d.Tools = append(d.Tools, toolpb.ToSpec(spec))
	}
	for _, f := range said.GetFilters() {
		d.Filters = append(d.Filters, tool.Filter{Name: f.GetName(), Description: f.GetDescription(), Before: f.GetBefore(), After: f.GetAfter(), Tools: f.GetTools()})
	}
	return d
}

// difference names the tool in which two descriptions differ, if there is just one.
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
		x.findings.skip(check, "it has no tools")
		return
	}
	name := x.described.Tools[0].Name
	said, err := t.ask(ctx, name, unknownToolName)
	if err != nil {
		x.findings.fail(check, "", "asked for %s and a tool that it does not have: %s", quote(name), words(err))
		return
	}
	var got []string
	for _, spec := range said.GetTools() {
		got = append(got, spec.GetName())
	}
	if len(got) != 1 || got[0] != name {
		x.findings.fail(check, "", "asked for %s and a tool that it does not have, it answers with %d tools: %s", quote(name), len(got), strings.Join(first(got, 5), ", "))
	}
	x.findings.pass(check, "")
}

// judgeWorkspace examines the workspace before any call.
func (x *examiner) judgeWorkspace() {
	const check = "describe.side_effects"
	if x.cfg.Workspace == "" {
		x.findings.skip(check, "there is no workspace")
		return
	}
	entries, err := os.ReadDir(x.cfg.Workspace)
	if err != nil {
		x.findings.skip(check, "the workspace cannot be read: %v", err)
		return
	}
	for _, entry := range entries {
		x.findings.fail(check, "", "before any call, %s was in the workspace", quote(entry.Name()))
	}
	x.findings.pass(check, "")
}
