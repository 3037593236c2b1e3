package loop

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/tool"
)

const (
	// foundTools is the key in a result's metadata under which the journal has the names of the tools that were found.
	foundTools = "found_tools"
	// defaultFound and mostFound bound what one search finds.
	defaultFound = 5
	mostFound    = 20
	// mostRemembered bounds the tools that a run has found.
	mostRemembered = 100
	// mostDescribed bounds what is shown of a tool's description, in characters; the model is told all of it with the next turn.
	mostDescribed = 200

	nothingFound = "No tool was found. Try other words, or words for what the tool would work with."
	foundMessage = "Found %d. They are among your tools from now on:"
)

// wantedTools is what tool_search is asked.
type wantedTools struct {
	Query string `json:"query"`
	Limit int    `json:"limit"`
}

// parseSearch returns what a call of tool_search asks for, or what is wrong with it, in words for the model.
func ParseSearch(c *Call) (in wantedTools, wrong string) {
	if err := json.Unmarshal([]byte(c.Arguments), &in); err != nil || strings.TrimSpace(in.Query) == "" {
		return in, `[invalid_argument] The arguments must be {"query": "…"}, with "limit" as a number if you want another count.`
	}
	in.Limit = min(FirstPositive(in.Limit, defaultFound, 1), mostFound)
	return in, ""
}

// foundResult tells the model what was found, and the journal which tools these are.
func FoundResult(c *Call, matches []tool.Match) *CallResult {
	names := []string{}
	var lines []string
	for i := range matches {
		spec := &matches[i].Spec
		description := []rune(strings.Join(strings.Fields(spec.Description), " "))
		if len(description) > mostDescribed {
			description = append(description[:mostDescribed], '…')
		}
		line := "- " + spec.Name + ": " + string(description)
		if reason := matches[i].UnavailableReason; reason != "" {
			lines = append(lines, line+" (It cannot be called now: "+reason+")")
			continue
		}
		names = append(names, spec.Name)
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		return &CallResult{CallID: c.ID, Tool: c.Tool, Result: tool.TextResult(nothingFound)}
	}
	result := tool.TextResult(fmt.Sprintf(foundMessage, len(lines)) + "\n" + strings.Join(lines, "\n"))
	if list, err := Marshal(names); err == nil { // strings always are
		result.Metadata = map[string]json.RawMessage{foundTools: list}
	}
	return &CallResult{CallID: c.ID, Tool: c.Tool, Result: result}
}

// searched is what searches for tools found.
type searched struct {
	found []string // names, the latest last
}

// remember adds what a search found to the tools that the model is told of, the latest last.
func (s *searched) remember(r *tool.Result) {
	var names []string
	if r.IsError || json.Unmarshal(r.Metadata[foundTools], &names) != nil {
		return
	}
	slices.Reverse(names) // the best last, like the latest
	found := slices.DeleteFunc(slices.Clone(s.found), func(name string) bool { return slices.Contains(names, name) })
	found = append(found, names...)
	s.found = found[max(0, len(found)-mostRemembered):]
}
