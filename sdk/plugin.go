package sdk

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/internal/version"
	"github.com/toolhost/toolhost/sdk/internal/fit"
	"github.com/toolhost/toolhost/tool"
)

// Version is the version of the SDK. A plugin reports it to toolhost.
const Version = version.Number

// Plugin is an executable that ships tools, filters or both. Serve runs it.
type Plugin struct {
	// Name is the plugin's name: 1 to 64 of the characters A-Z a-z 0-9 _ -, beginning with a
	// letter.
	Name string
	// Version is free text; semantic versioning is usual. It may be empty.
	Version string
	// Description is one line on what the plugin is. It may be empty.
	Description string
	// Tools must not be empty, unless there are filters. No name may repeat, among the filters
	// neither.
	Tools []Tool
	// Filters are asked around calls of tools. Usually there are none.
	Filters []Filter
	// DefaultTags go to the tools that declare none.
	DefaultTags []string
	// Permissions are the plugin's requests: the network, the workspace, further files. A request
	// alone grants nothing: the operator of a toolhost sees the requests, and grants them or not. A
	// tool must handle a permission that it does not have, and say so in its error.
	Permissions Permissions
}

// Validate returns nil, or an error that names everything that is wrong with the plugin's
// declaration and its tools'. Serve refuses to run a plugin whose declaration is wrong apart from
// its schemas and examples. It does not check those: toolhost omits a tool whose schema it cannot
// use, and serves the other tools. Package sdktest and toolhost check a handwritten schema more
// strictly than Validate: every keyword, by the rules of its draft, and schemas that take too long
// to check.
func (p Plugin) Validate() error {
	return p.check(lightly, false)
}

// Describe returns the declaration that toolhost receives, without checking it.
func (p Plugin) Describe() Description {
	d := Description{
		Name:        p.Name,
		Version:     p.Version,
		Description: p.Description,
		Tools:       make([]Spec, 0, len(p.Tools)),
		DefaultTags: slices.Clone(p.DefaultTags),
		Permissions: p.Permissions,
		SDK:         &tool.SDKInfo{Name: "toolhost-go", Version: Version},
	}
	for _, t := range p.Tools {
		d.Tools = append(d.Tools, t.spec)
	}
	for _, f := range p.Filters {
		d.Filters = append(d.Filters, f.spec())
	}
	return d
}

// check returns the problems of the declaration, one line each. It does not check schemas and
// examples if trusting is set.
//
// A plugin that toolhost starts is checked with trusting set. toolhost checks the schemas of each
// build of a plugin once, and it omits a tool whose schema it cannot use, with the reason. A second
// check in each plugin process would delay each start (0.8 s for 3,417 tools), and the plugin would
// refuse all of its tools because of one.
func (p Plugin) check(compile fit.Compile, trusting bool) error {
	var problems []error
	if err := tool.CheckName(p.Name); err != nil {
		problems = append(problems, fmt.Errorf("the plugin: %w", err))
	}
	if len(p.Tools)+len(p.Filters) == 0 {
		problems = append(problems, errors.New("the plugin has no tools"))
	}
	seen := map[string]bool{}
	for i, t := range p.Tools {
		label := fmt.Sprintf("tool %q", t.spec.Name)
		if t.spec.Name == "" {
			label = fmt.Sprintf("tool number %d", i+1)
		}
		if seen[t.spec.Name] && t.spec.Name != "" {
			problems = append(problems, fmt.Errorf("%s: another tool of the plugin has that name", label))
		}
		seen[t.spec.Name] = true
		problems = append(problems, labelled(label, t.check(compile, trusting))...)
	}
	applied := map[string]int{}
	for i, f := range p.Filters {
		label := fmt.Sprintf("filter %q", f.Name)
		if f.Name == "" {
			label = fmt.Sprintf("filter number %d", i+1)
		}
		if seen[f.Name] && f.Name != "" {
			problems = append(problems, fmt.Errorf("%s: a tool or another filter of the plugin has that name", label))
		}
		seen[f.Name] = true
		problems = append(problems, labelled(label, errors.Join(f.check(), f.checkTools(p.Tools)))...)
		for _, name := range f.Tools {
			if applied[name]++; applied[name] == tool.MaxOwnFilters+1 {
				problems = append(problems, fmt.Errorf("%s: more than %d filters of the plugin apply to the tool %q", label, tool.MaxOwnFilters, name))
			}
		}
	}
	return errors.Join(problems...)
}

func (t Tool) check(compile fit.Compile, trusting bool) error {
	if t.open == nil {
		return errors.New("it has no code; make it with Func or Object")
	}
	if t.err != nil {
		spec := t.spec
		if spec.InputSchema == nil {
			spec.InputSchema = []byte(`{"type":"object"}`) // t.err has the problem
			spec.InputExamples = nil
		}
		return errors.Join(t.err, t.checkPromises(), checkSpec(&spec, compile))
	}
	if trusting {
		return errors.Join(t.checkPromises(), checkWords(&t.spec))
	}
	return errors.Join(t.checkPromises(), checkSpec(&t.spec, compile))
}

// checkPromises returns what the declaration promises and the code does not have, or the reverse.
func (t Tool) checkPromises() error { return errors.Join(t.checkDynamic(), t.checkSettle()) }

// labelled returns the errors that err joins, each with its label.
func labelled(label string, err error) []error {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, e := range joined.Unwrap() {
			all = append(all, labelled(label, e)...)
		}
		return all
	}
	return []error{fmt.Errorf("%s: %w", label, err)}
}

// complaint returns the message with which a plugin with an invalid declaration ends.
func complaint(name string, err error) string {
	if name == "" {
		name = "?"
	}
	lines := strings.ReplaceAll(err.Error(), "\n", "\n  ")
	return fmt.Sprintf("The plugin %q cannot be served, because its declaration is wrong:\n  %s\n", name, lines)
}
