package markup

import "strings"

// spaces are what models put before the name of a tool, from the form in which their training named
// it: OpenAI's functions, Gemini's default_api, and tools of MCP servers.
var spaces = []string{"functions", "function", "default_api", "tools", "tool", "api", "mcp", "repo_browser"}

// Meant returns the one offered tool that a model meant by another name, or "". The name may have a
// known prefix, or a suffix of tokens and numbers, such as functions.calculator,
// default_api:calculator, calculator<|channel|>commentary and functions.calculator:0.
func Meant(name string, tools []string) string {
	name = strings.TrimSpace(spelling.Replace(name))
	name, _, _ = strings.Cut(name, "<|")
	name = strings.Trim(name, " \t\r\n\"'`()[]{}")
	for {
		if found := only(name, tools); found != "" {
			return found
		}
		shorter := cutSpace(name)
		if shorter == name {
			shorter = cutNumber(name)
		}
		if shorter == name {
			return ""
		}
		name = shorter
	}
}

// only returns the offered tool with a name, whatever the case of its letters, if there is just
// one.
func only(name string, tools []string) (found string) {
	for _, t := range tools {
		switch {
		case t == name:
			return t
		case strings.EqualFold(t, name) && found != "":
			return ""
		case strings.EqualFold(t, name):
			found = t
		}
	}
	return found
}

func cutSpace(name string) string {
	for _, space := range spaces {
		if rest, ok := strings.CutPrefix(name, space); ok && rest != "" && strings.ContainsRune(".:/", rune(rest[0])) {
			return strings.TrimLeft(rest, ".:/")
		}
	}
	return name
}

// cutNumber removes the number that Kimi gives to a call.
func cutNumber(name string) string {
	before, after, found := strings.Cut(name, ":")
	if !found || strings.Trim(after, "0123456789") != "" {
		return name
	}
	return before
}
