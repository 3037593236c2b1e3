package loop

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/tool"
)

const (
	// foundTools is the metadata key of a result under which the journal has the names of the found
	// tools.
	foundTools = "found_tools"
	// defaultFound and mostFound are the default and the largest number of results of one search.
	defaultFound = 5
	mostFound    = 20
	// mostRemembered is the largest number of found tools that a run remembers.
	mostRemembered = 100
	// mostDescribed limits a tool's description in a search result, in characters. The next request
	// has all of it.
	mostDescribed = 200

	nothingFound = "No tool was found. Try other words, or words for what the tool would work with."
	foundMessage = "Found %d. They are among your tools from now on:"
)

// wantedTools is the arguments of tool_search.
type wantedTools struct {
	Query string `json:"query"`
	Limit int    `json:"limit"`
}

// ParseSearch returns the arguments of a tool_search call, or a message for the model that says
// what is wrong with them.
func ParseSearch(c *Call) (in wantedTools, wrong string) {
	if err := json.Unmarshal([]byte(c.Arguments), &in); err != nil || strings.TrimSpace(in.Query) == "" {
		return in, `[invalid_argument] The arguments must be {"query": "…"}, with "limit" as a number if you want another count.`
	}
	in.Limit = min(FirstPositive(in.Limit, defaultFound, 1), mostFound)
	return in, ""
}

// FoundResult returns the result of a search, with the names of the found tools for the journal.
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
	if list, err := Marshal(names); err == nil { // strings never fail
		result.Metadata = map[string]json.RawMessage{foundTools: list}
	}
	return &CallResult{CallID: c.ID, Tool: c.Tool, Result: result}
}

// searched is the tools that searches found.
type searched struct {
	found []string // names, the latest last
}

// remember adds the tools of a search result, so that the next request lists them.
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
