package cli

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/toolhost/toolhost/tool"
)

// PermittedArguments says which arguments a standing approval permits: DIR/… is a path at or below
// DIR, ORIGIN/… a URL of that origin, and … any value. The text is foreign.
func PermittedArguments(a *tool.StandingApproval) string {
	if a.AnyArguments {
		return "any arguments"
	}
	values := map[string]string{}
	var equal map[string]json.RawMessage
	if err := json.Unmarshal(a.Arguments, &equal); err != nil && len(a.Arguments) > 0 {
		return "unreadable"
	}
	for name, value := range equal {
		values[name] = string(value)
	}
	for _, p := range a.Patterns {
		switch {
		case p.PathPrefix != "":
			values[p.Argument] = word(p.PathPrefix) + "/…"
		case p.Origin != "":
			values[p.Argument] = word(p.Origin) + "/…"
		default:
			values[p.Argument] = "…"
		}
	}
	var words []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		words = append(words, word(name)+"="+values[name])
	}
	return cmp.Or(strings.Join(words, " "), "none")
}

// word returns a text that a model may have chosen as one word. It quotes a text that could be
// taken for several arguments, or for the end of one.
func word(text string) string {
	if text != "" && !strings.ContainsAny(text, " =\"…") {
		return text
	}
	return strconv.Quote(text)
}

// PermittedCalls says for which calls a standing approval is valid. The text is foreign.
func PermittedCalls(a *tool.StandingApproval) string {
	switch a.Scope {
	case tool.ScopeRun:
		return "run " + a.Run
	case tool.ScopeSession:
		return "session " + a.Session
	}
	return "all calls"
}
