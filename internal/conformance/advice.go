package conformance

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/internal/toolsearch"
	"github.com/toolhost/toolhost/tool"
)

const (
	// fewWords is how few a description may have until it is said to be short.
	fewWords = 8
	// alike is how much of a tool's own score another's has to have, when the tool's description is searched for, to be
	// taken for one of the same purpose.
	alike = 0.75
)

// What names promise. Words are those between underscores, dashes and changes of case.
var (
	harmful = []string{"delete", "remove", "rm", "drop", "destroy", "kill", "exec", "execute", "shell", "bash", "eval", "wipe", "purge", "format", "reboot", "shutdown", "pay", "transfer", "refund", "deploy"}
	looking = []string{"get", "list", "read", "search", "find", "show", "fetch", "lookup", "query", "describe", "count", "check", "calculate", "compute"}
	secret  = regexp.MustCompile(`(?i)(^|_|-)(password|passwd|secret|api_?key|access_?token|auth_?token|private_?key|credentials?)($|_|-)`)
	word    = regexp.MustCompile(`[A-Z]?[a-z]+|[A-Z]+|[0-9]+`)
)

// advise looks at how the plugin's tools are declared. It runs before any call.
func (x *examiner) advise() {
	x.pass("advice.version", "")
	if x.described.Version == "" {
		x.fail("advice.version", "", "it says no version")
	}
	if len(x.described.Tools) == 0 {
		x.unreached = "it has no tools"
		return
	}
	for _, check := range []string{"descriptions", "parameters", "schemas", "examples", "dangerous", "read_only", "secrets"} {
		x.pass("advice."+check, "")
	}
	for i := range x.described.Tools {
		x.adviseTool(&x.described.Tools[i])
	}
	x.adviseSimilar()
}

func (x *examiner) adviseTool(spec *tool.Spec) {
	if n := len(strings.Fields(spec.Description)); n < fewWords {
		x.fail("advice.descriptions", spec.Name, "its description has %d words: %s", n, quote(spec.Description))
	}
	properties := propertiesOf(spec.InputSchema)
	var unexplained []string
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if properties[name] == "" {
			unexplained = append(unexplained, name)
		}
		if secret.MatchString(name) {
			x.fail("advice.secrets", spec.Name, "the parameter %s sounds like a secret", quote(name))
		}
	}
	if len(unexplained) > 0 {
		x.fail("advice.parameters", spec.Name, "it does not explain %s", strings.Join(first(unexplained, 10), ", "))
	}
	x.adviseSchema(spec)
	if len(spec.InputExamples) == 0 && len(properties) > 0 {
		x.fail("advice.examples", spec.Name, "it has no example")
	}
	x.adviseEffects(spec)
}

func (x *examiner) adviseEffects(spec *tool.Spec) {
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
		x.fail("advice.dangerous", spec.Name, "its name says %q, and it does not declare dangerous", w)
	} else if w := promises(looking); w != "" && w == words[0] && !spec.Dangerous && spec.HasSideEffects() {
		x.fail("advice.read_only", spec.Name, "its name says %q, and it declares neither read_only nor idempotent", w)
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
	_ = json.Unmarshal(schema, &s) // what is no such schema is a finding of its own
	described := map[string]string{}
	for name, p := range s.Properties {
		described[name] = strings.TrimSpace(p.Description + p.Ref)
	}
	return described
}

// adviseSimilar looks for tools that a search for one another's descriptions finds.
func (x *examiner) adviseSimilar() {
	if len(x.described.Tools) < 2 {
		x.skip("advice.similar", "it has one tool")
		return
	}
	x.pass("advice.similar", "")
	var infos []tool.Info
	seen := map[string]bool{}
	for i := range x.described.Tools {
		if spec := x.described.Tools[i]; !seen[spec.Name] {
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
				x.fail("advice.similar", infos[i].Spec.Name, "it is described much like %s", infos[j].Spec.Name)
			}
		}
	}
}
