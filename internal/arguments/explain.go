package arguments

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/message"
)

// explainer finds out why a value does not fit a schema, and says it.
type explainer struct {
	schema   *Schema
	work     work
	root     any
	printer  *message.Printer
	parts    map[string]*jsonschema.Schema // of the schema, by location, once they have been asked for
	problems []problem
	more     bool // there are more problems than were looked at
}

// problem is one reason why a value does not fit.
type problem struct {
	at   []string // where the value is
	text string
}

// explain finds the problems of a value that does not fit. All that is wrong with a large one would take too much
// memory: of that, the parts are gone through one by one.
func (e *explainer) explain(s *jsonschema.Schema, v any, at []string) {
	w := work{left: min(maxExplainSteps, e.work.left), located: true, dynamic: e.schema.dynamic, patterns: e.schema.patterns}
	before := w.left
	small := w.covers(s, v)
	e.work.left -= before - max(0, w.left)
	if small {
		if invalid, ok := check(s, v).(*jsonschema.ValidationError); ok {
			e.collect(invalid, at)
			return
		}
	}
	found := len(e.problems)
	e.explainParts(s, v, at)
	if len(e.problems) == found {
		e.add(at, "does not fit the schema, and is too large to say why")
	}
}

func (e *explainer) explainParts(s *jsonschema.Schema, v any, at []string) {
	for _, sub := range slices.Concat([]*jsonschema.Schema{s.Ref}, s.AllOf) {
		e.explainPart(sub, v, at)
	}
	switch v := v.(type) {
	case map[string]any:
		for name, part := range v {
			for _, sub := range e.work.ofProperty(s, name) {
				e.explainPart(sub, part, append(slices.Clip(at), name))
			}
		}
	case []any:
		for i, part := range v {
			if e.full() {
				return
			}
			e.explainPart(ofItem(s, i), part, append(slices.Clip(at), strconv.Itoa(i)))
		}
	}
}

func (e *explainer) explainPart(s *jsonschema.Schema, v any, at []string) {
	if s == nil || e.full() || e.schema.fits(&e.work, s, v) || e.full() {
		return
	}
	e.explain(s, v, at)
}

// full reports whether no more problems are to be looked for.
func (e *explainer) full() bool {
	if len(e.problems) >= maxExplained || e.work.left <= 0 {
		e.more = true
	}
	return e.more
}

func (e *explainer) add(at []string, text string) {
	e.problems = append(e.problems, problem{at: slices.Clone(at), text: text})
}

// collect takes the problems out of a validation error of the value at a place.
func (e *explainer) collect(err *jsonschema.ValidationError, at []string) {
	if e.full() {
		return
	}
	place := slices.Concat(at, err.InstanceLocation)
	switch {
	case isChoice(err):
		e.choice(err, at)
	case len(err.Causes) > 0 && !standsAlone(err):
		for _, cause := range err.Causes {
			e.collect(cause, at)
		}
	default:
		e.add(place, e.sentence(err, place))
	}
}

// sentences says what was found in the order of the paths, each thing once.
func (e *explainer) sentences() []string {
	slices.SortFunc(e.problems, func(a, b problem) int {
		return cmp.Or(slices.CompareFunc(a.at, b.at, compareTokens), strings.Compare(a.text, b.text))
	})
	var all []string
	for _, p := range e.problems {
		all = append(all, path(p.at)+": "+p.text)
	}
	all = slices.Compact(all)
	switch more := len(all) - maxProblems; {
	case e.more && more > 0:
		all = append(all[:maxProblems], "and many more")
	case e.more:
		all = append(all, "and probably more")
	case more > 0:
		all = append(all[:maxProblems], "and "+strconv.Itoa(more)+" more")
	}
	return all
}

// compareTokens orders the items of an array by their number.
func compareTokens(a, b string) int {
	i, err := strconv.Atoi(a)
	j, err2 := strconv.Atoi(b)
	if err == nil && err2 == nil {
		return cmp.Compare(i, j)
	}
	return strings.Compare(a, b)
}

// valueAt returns what stands at a place of the arguments.
func (e *explainer) valueAt(at []string) any {
	value := e.root
	for _, token := range at {
		switch v := value.(type) {
		case map[string]any:
			value = v[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(v) {
				return nil
			}
			value = v[i]
		}
	}
	return value
}
