package arguments

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// maxProblems bounds how many problems one error names: a model mends a few at a time, and the text goes into its
// context.
const maxProblems = 10

// Validate returns nil if the arguments fit the schema, else an error that names each problem's path, what was given
// and what is allowed, in words that a model can act on.
func (s *Schema) Validate(p Parsed) error {
	err := s.compiled.Validate(p.value)
	if err == nil {
		return nil
	}
	invalid, ok := err.(*jsonschema.ValidationError)
	if !ok {
		return fmt.Errorf("the arguments cannot be checked: %w", err)
	}
	w := problemWriter{root: p.value, printer: message.NewPrinter(language.English)}
	w.walk(invalid)
	problems := w.problems
	slices.Sort(problems)
	problems = slices.Compact(problems)
	if more := len(problems) - maxProblems; more > 0 {
		problems = append(problems[:maxProblems], fmt.Sprintf("and %d more", more))
	}
	return fmt.Errorf("the arguments do not fit the tool's schema:\n- %s", strings.Join(problems, "\n- "))
}

// problemWriter collects the leaves of a validation error as sentences.
type problemWriter struct {
	root     any
	printer  *message.Printer
	problems []string
}

func (w *problemWriter) walk(e *jsonschema.ValidationError) {
	if isChoice(e) && len(e.Causes) > 1 {
		w.problems = append(w.problems, w.choice(e))
		return
	}
	if len(e.Causes) > 0 {
		for _, cause := range e.Causes {
			w.walk(cause)
		}
		return
	}
	w.problems = append(w.problems, w.sentence(e))
}

// given shows the value at a location, cut to a length that suits a sentence.
func (w *problemWriter) given(location []string) string {
	value := w.root
	for _, token := range location {
		switch v := value.(type) {
		case map[string]any:
			value = v[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(v) {
				return "?"
			}
			value = v[i]
		}
	}
	return asJSON(value)
}

func asJSON(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		return "?"
	}
	const most = 100
	if text := string(data); len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return string(data)
}

// path writes a location as people write it, such as "filter.tags[2]".
func path(location []string) string {
	if len(location) == 0 {
		return "arguments"
	}
	var b strings.Builder
	for _, token := range location {
		if _, err := strconv.Atoi(token); err == nil {
			fmt.Fprintf(&b, "[%s]", token)
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(token)
	}
	return b.String()
}

func quoteAll(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = strconv.Quote(name)
	}
	return strings.Join(quoted, ", ")
}
