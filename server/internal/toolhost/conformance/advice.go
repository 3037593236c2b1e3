package conformance

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/server/internal/toolhost/toolsearch"
	"github.com/toolhost/toolhost/tool"
)

const (
	// fewWords is the number of words below which a description is reported as short.
	fewWords = 8
	// alike defines when two tools are similar. In a search for the description of one tool, the
	// other tool must reach at least this share of the first tool's own score.
	alike = 0.75
)

// These patterns match names that promise something. A word ends at an underscore, a dash, or a
// change of case.
var (
	harmful = []string{"delete", "remove", "rm", "drop", "destroy", "kill", "exec", "execute", "shell", "bash", "eval", "wipe", "purge", "format", "reboot", "shutdown", "pay", "transfer", "refund", "deploy"}
	looking = []string{"get", "list", "read", "search", "find", "show", "fetch", "lookup", "query", "describe", "count", "check", "calculate", "compute"}
	secret  = regexp.MustCompile(`(?i)(^|_|-)(password|passwd|secret|api_?key|access_?token|auth_?token|private_?key|credentials?)($|_|-)`)
	word    = regexp.MustCompile(`[A-Z]?[a-z]+|[A-Z]+|[0-9]+`)
)

// adviser examines how the plugin's tools are declared, and gives advice on it.
type adviser struct {
	*findings
	plugin *tool.Description
}

// advise runs before any call. It returns the reason why later checks are not reached, or "".
func (a *adviser) advise() (unreached string) {
	a.pass("advice.version", "")
	if a.plugin.Version == "" {
		a.fail("advice.version", "", "it says no version")
	}
	if len(a.plugin.Tools) == 0 {
		return "it has no tools"
	}
	for _, check := range []string{"descriptions", "parameters", "schemas", "examples", "dangerous", "read_only", "secrets"} {
		a.pass("advice."+check, "")
	}
	for i := range a.plugin.Tools {
		a.adviseTool(&a.plugin.Tools[i])
	}
	a.adviseSimilar()
	return ""
}

func (a *adviser) adviseTool(spec *tool.Spec) {
	if n := len(strings.Fields(spec.Description)); n < fewWords {
		a.fail("advice.descriptions", spec.Name, "its description has %d words: %s", n, quote(spec.Description))
	}
	properties := propertiesOf(spec.InputSchema)
	var unexplained []string
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if properties[name] == "" {
			unexplained = append(unexplained, name)
		}
		if secret.MatchString(name) {
			a.fail("advice.secrets", spec.Name, "the parameter %s sounds like a secret", quote(name))
		}
	}
	if len(unexplained) > 0 {
		a.fail("advice.parameters", spec.Name, "it does not explain %s", strings.Join(first(unexplained, 10), ", "))
	}
	a.adviseSchema(spec)
	if len(spec.InputExamples) == 0 && len(properties) > 0 {
		a.fail("advice.examples", spec.Name, "it has no example")
	}
	a.adviseEffects(spec)
}

func (a *adviser) adviseEffects(spec *tool.Spec) {
	words := word.FindAllString(spec.Name, -1)
	for i, w := range words {
		words[i] = strings.ToLower(w)
	}
	promises := func(list []string) string {
		i := slices.IndexFunc(words, func(w string) bool { return slices.Contains(list, w) })
		if i < 0 {
			return ""
		}
		return words[i]
	}
	if w := promises(harmful); w != "" && !spec.Dangerous && !spec.ReadOnly {
		a.fail("advice.dangerous", spec.Name, "its name says %q, and it does not declare dangerous", w)
	} else if w := promises(looking); w != "" && w == words[0] && !spec.Dangerous && spec.HasSideEffects() {
		a.fail("advice.read_only", spec.Name, "its name says %q, and it declares neither read_only nor idempotent", w)
	}
}

// propertiesOf returns the descriptions of a schema's properties, by name.
func propertiesOf(schema json.RawMessage) map[string]string {
	var s struct {
		Properties map[string]struct {
			Description string `json:"description"`
			Ref         string `json:"$ref"`
		} `json:"properties"`
	}
	_ = json.Unmarshal(schema, &s) // another check reports a schema of another form
	described := map[string]string{}
	for name, p := range s.Properties {
		described[name] = strings.TrimSpace(p.Description + p.Ref)
	}
	return described
}

// adviseSimilar reports pairs of tools. A search for the description of either tool finds the other
// one, too.
func (a *adviser) adviseSimilar() {
	if len(a.plugin.Tools) < 2 {
		a.skip("advice.similar", "it has one tool")
		return
	}
	a.pass("advice.similar", "")
	var infos []tool.Info
	seen := map[string]bool{}
	for i := range a.plugin.Tools {
		if spec := a.plugin.Tools[i]; !seen[spec.Name] {
			seen[spec.Name] = true
			infos = append(infos, tool.Info{Spec: spec})
		}
	}
	index := toolsearch.New(infos)
	scores := make([]map[int]float64, len(infos))
	for i := range infos {
		scores[i] = map[int]float64{}
		for _, hit := range index.Search(infos[i].Spec.Description, nil, 0) {
			scores[i][hit.Tool] = hit.Score
		}
	}
	for i := range infos {
		for j := i + 1; j < len(infos); j++ {
			if own, other := scores[i][i], scores[j][j]; own > 0 && other > 0 && scores[i][j] >= alike*own && scores[j][i] >= alike*other {
				a.fail("advice.similar", infos[i].Spec.Name, "it is described much like %s", infos[j].Spec.Name)
			}
		}
	}
}
