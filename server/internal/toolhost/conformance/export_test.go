package conformance

// CheckIDs returns the ids of all checks.
func CheckIDs() []string {
	var ids []string
	for _, d := range definitions() {
		ids = append(ids, d.id)
	}
	return ids
}

// Titles returns the titles of all checks by id.
func Titles() map[string]string {
	titles := map[string]string{}
	for _, d := range definitions() {
		titles[d.id] = d.title
	}
	return titles
}

// MCPTitles returns the titles of the checks of MCP servers, by id.
func MCPTitles() map[string]string {
	titles := map[string]string{}
	for _, d := range mcpDefinitions() {
		titles[d.id] = d.title
	}
	return titles
}
