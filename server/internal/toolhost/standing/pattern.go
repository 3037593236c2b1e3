package standing

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/tool"
)

const (
	// maxPatterns bounds the patterns of one approval. A person has to read them.
	maxPatterns = 32
	// maxPattern bounds the text of one pattern in bytes.
	maxPattern = 1024
	// maxArguments bounds the arguments that an approval keeps, in bytes. A person has to read them.
	maxArguments = 64 << 10
)

// unreadable is the kind of an argument whose declaration cannot be read. It has no pattern: the
// plugin may have meant that the argument is a command.
const unreadable tool.ArgumentKind = "unreadable"

// kindOf returns what an argument of a tool is, as its plugin declares it; empty if it does not.
func kindOf(spec *tool.Spec, argument string) tool.ArgumentKind {
	text, declares := spec.Metadata[tool.KeyArguments]
	if !declares {
		return ""
	}
	var kinds map[string]json.RawMessage
	if json.Unmarshal(text, &kinds) != nil {
		return unreadable
	}
	value, declared := kinds[argument]
	if !declared {
		return ""
	}
	var kind tool.ArgumentKind
	if json.Unmarshal(value, &kind) != nil || kind == "" {
		return unreadable
	}
	return kind
}

// executed are words in the names of arguments that tools execute. An argument with such a name has
// no pattern unless the tool declares what it is: part of a command is a command too.
var executed = []string{"command", "cmd", "script", "code", "shell", "sql", "query", "expr", "eval", "argv", "args", "program", "exec", "prompt", "stdin", "input", "cwd", "workdir", "working"}

// maybeExecuted reports whether an undeclared argument of this name may be something to execute.
func maybeExecuted(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(executed, func(word string) bool { return strings.Contains(name, word) })
}

// normalize returns a pattern in the form in which it is kept and compared, or why it cannot be
// used for an argument of a kind; an undeclared argument has the kind "".
func normalize(p tool.ArgumentPattern, kind tool.ArgumentKind) (tool.ArgumentPattern, error) {
	forms := 0
	for _, set := range []bool{p.PathPrefix != "", p.Origin != "", p.Any} {
		if set {
			forms++
		}
	}
	switch {
	case p.Argument == "":
		return p, fmt.Errorf("a pattern names no argument")
	case len(p.Argument) > maxPattern:
		return p, fmt.Errorf("the name of the argument of a pattern is longer than %d bytes", maxPattern)
	case forms != 1:
		return p, fmt.Errorf("the pattern of %q has %d forms; set exactly one of path_prefix, origin and any", p.Argument, forms)
	case len(p.PathPrefix)+len(p.Origin) > maxPattern:
		return p, fmt.Errorf("the pattern of %q is longer than %d bytes", p.Argument, maxPattern)
	case kind == tool.ArgumentCommand, kind == "" && maybeExecuted(p.Argument):
		return p, fmt.Errorf("%q may be executed, so that it can have no pattern; it has to be the same in each call", p.Argument)
	}
	switch {
	case p.Any && kind != tool.ArgumentContent:
		return p, fmt.Errorf("the tool does not declare %q as content, so that it cannot have any value; leave the pattern out", p.Argument)
	case p.PathPrefix != "":
		if kind != tool.ArgumentPath && kind != "" {
			return p, fmt.Errorf("the tool declares %q as %s, and not as a path", p.Argument, kind)
		}
		clean, ok := cleanPath(p.PathPrefix, kind == tool.ArgumentPath)
		if !ok {
			return p, fmt.Errorf("the path_prefix %q of %q is not a plain path relative to the workspace", p.PathPrefix, p.Argument)
		}
		if clean == "." && kind == "" { // it would permit every word
			return p, fmt.Errorf("the tool does not declare %q as a path, so that its path_prefix cannot be the whole workspace; name a folder", p.Argument)
		}
		p.PathPrefix = clean
	case p.Origin != "":
		if kind != tool.ArgumentURL && kind != "" {
			return p, fmt.Errorf("the tool declares %q as %s, and not as a url", p.Argument, kind)
		}
		of, rest, ok := originOf(p.Origin)
		if !ok || rest != "" && rest != "/" {
			return p, fmt.Errorf("the origin %q of %q is not SCHEME://HOST or SCHEME://HOST:PORT with http or https", p.Origin, p.Argument)
		}
		p.Origin = of
	}
	return p, nil
}

// permits reports whether a normalized pattern permits a value of an argument. declared says that
// the tool declares the argument as what the pattern is for.
//
// The value must be spelled in the normal form too. A rule of the policy compares texts: one that
// denies `docs/secret` does not know `./docs//secret`, and no person sees the call any more.
func permits(p tool.ArgumentPattern, value any, declared bool) bool {
	normal, ok := within(p, value, declared)
	return ok && normal
}

// within reports whether a value is one that a normalized pattern is about, and whether it is
// spelled in the normal form.
func within(p tool.ArgumentPattern, value any, declared bool) (normal, ok bool) {
	if p.Any {
		return true, true
	}
	text, ok := value.(string)
	if !ok {
		return false, false
	}
	if p.Origin != "" {
		of, rest, ok := originOf(text)
		return text == of+rest, ok && of == p.Origin && (declared || plainURL(rest))
	}
	clean, ok := cleanPath(text, declared)
	return clean == text, ok && (p.PathPrefix == "." || clean == p.PathPrefix || strings.HasPrefix(clean, p.PathPrefix+"/"))
}

// template is the arguments that an approval permits.
type template struct {
	any      bool
	patterns map[string]tool.ArgumentPattern
	declared map[string]bool // the arguments with a pattern that the tool declares
	equal    map[string]any  // the others, as encoding/json decodes them with UseNumber
}

// newTemplate returns the arguments that a request permits, with its patterns normalized. object is
// the arguments of the approved call, which must match themselves.
func newTemplate(r *tool.ApprovalRequest, object map[string]any, spec *tool.Spec) (*template, []tool.ArgumentPattern, error) {
	if r.AnyArguments {
		switch {
		case r.Scope != tool.ScopeRun:
			return nil, nil, fmt.Errorf("an approval of any arguments must be for one run")
		case len(r.Patterns) > 0:
			return nil, nil, fmt.Errorf("an approval of any arguments has no patterns")
		}
		return &template{any: true}, nil, nil
	}
	if len(r.Patterns) > maxPatterns {
		return nil, nil, fmt.Errorf("the approval has %d patterns; it may have %d", len(r.Patterns), maxPatterns)
	}
	t := &template{patterns: map[string]tool.ArgumentPattern{}, declared: map[string]bool{}, equal: maps.Clone(object)}
	var normal []tool.ArgumentPattern
	for _, p := range r.Patterns {
		kind := kindOf(spec, p.Argument)
		p, err := normalize(p, kind)
		if err != nil {
			return nil, nil, err
		}
		value, there := object[p.Argument]
		_, about := within(p, value, kind != "") // the person has seen how the value is spelled
		switch {
		case t.patterns[p.Argument] != (tool.ArgumentPattern{}):
			return nil, nil, fmt.Errorf("the argument %q has two patterns", p.Argument)
		case !there:
			return nil, nil, fmt.Errorf("the approved call has no argument %q for a pattern", p.Argument)
		case !about:
			return nil, nil, fmt.Errorf("the pattern of %q does not match the approved call", p.Argument)
		}
		t.patterns[p.Argument], t.declared[p.Argument] = p, kind != ""
		delete(t.equal, p.Argument)
		normal = append(normal, p)
	}
	return t, normal, nil
}

// matches reports whether the template permits the arguments of a call: each has a pattern that
// permits it, or is equal, and none is missing or added. Numbers are equal if their texts are.
func (t *template) matches(object map[string]any) bool {
	if t.any {
		return true
	}
	if len(object) != len(t.equal)+len(t.patterns) {
		return false
	}
	for name, want := range t.equal {
		if value, there := object[name]; !there || !reflect.DeepEqual(value, want) {
			return false
		}
	}
	for name, p := range t.patterns {
		if value, there := object[name]; !there || !permits(p, value, t.declared[name]) {
			return false
		}
	}
	return true
}
