package render

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolhost/toolhost/tool"
)

// Losses returns what the APIs of model providers lose of a tool's input schema, one sentence for
// each loss, for the author of the tool: keywords that an API refuses at the root, or the whole
// tool.
func Losses(spec *tool.Spec) []string {
	type loss struct {
		what string
		apis []string
	}
	var all []loss
	for _, api := range []struct {
		name    string
		rules   schemaRules
		longest int
	}{{"OpenAI", openAIRules, OpenAIDescription}, {"Anthropic", anthropicRules, 0}, {"Gemini", geminiRules, 0}} {
		fitting, refused, err := api.rules.fit(spec.InputSchema)
		if name, found := unacceptable(fitting); found && api.name == "Anthropic" {
			err = refusedName(name)
		}
		var what string
		switch {
		case err != nil:
			what = "RenderTools omits the tool: " + err.Error()
		case len(refused) == 0:
			continue
		default:
			what = lost(refused, api.longest)
		}
		if at := slices.IndexFunc(all, func(l loss) bool { return l.what == what }); at >= 0 {
			all[at].apis = append(all[at].apis, api.name)
		} else {
			all = append(all, loss{what, []string{api.name}})
		}
	}
	var sentences []string
	for _, l := range all {
		sentences = append(sentences, fmt.Sprintf("for %s, %s", strings.Join(l.apis, " and "), l.what))
	}
	return sentences
}

// lost says what becomes of keywords at the root.
func lost(refused object, longest int) string {
	var keywords []string
	merged := false
	for _, m := range refused {
		keywords = append(keywords, m.name)
		merged = merged || slices.Contains([]string{"oneOf", "anyOf", "allOf"}, m.name)
	}
	where := "is only in the description"
	if longest > 0 && utf8.RuneCount(compact(refused.text())) > longest/2 {
		where = "is too long for the description, so that the model does not see it"
	}
	words := strings.Join(keywords, " and ") + " at the root " + where
	if merged {
		words += "; the model sees the properties of all parts, and requires those that all require"
	}
	return words
}
