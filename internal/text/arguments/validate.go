package arguments

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/toolhost/toolhost/internal/text/jsontext"
)

const (
	// maxProblems bounds the problems that one error names. A model fixes a few at a time, and the
	// text takes space in its context.
	maxProblems = 10
	// maxExplained bounds the problems that are examined for the error.
	maxExplained = 500
	// maxExplainSteps bounds the validation that collects reasons. Each step may keep some hundred
	// bytes.
	maxExplainSteps = 1 << 17
)

// errTooMuch is the error for arguments whose validation would take too long.
var errTooMuch = errors.New("the arguments cannot be checked: by the tool's schema, values within each other as deep or as " +
	"many as these can be read in so many ways that checking would take too long; send fewer of them, nested less deep, and shorter regular expressions")

// Validate returns nil if the arguments fit the schema. Otherwise the error names each problem's
// path, the given value, and what is allowed, in words that a model can act on. Validate refuses a
// property that has different values under two of its other names. The work is bounded: Validate
// refuses arguments that would take too long.
func (s *Schema) Validate(p Parsed) error {
	if s.Settled(p) {
		return nil
	}
	w := s.work(maxSteps)
	value := p.Value()
	contradictions := s.contradictions(value)
	if s.fits(&w, s.compiled, value) {
		if len(contradictions) > 0 {
			return notFitting(contradictions)
		}
		return nil
	}
	if w.left <= 0 {
		return errTooMuch
	}
	e := explainer{schema: s, work: s.work(maxSteps / 2), root: value, printer: message.NewPrinter(language.English)}
	e.explain(s.compiled, value, nil)
	return notFitting(slices.Concat(contradictions, misspelled(s.Undeclared(p)), leakage(s.Leaked(p)), e.sentences()))
}

// notFitting returns the error that lists the problems of arguments.
func notFitting(sentences []string) error {
	return errors.New("the arguments do not fit the tool's schema:\n- " + strings.Join(sentences, "\n- "))
}

// explainer finds and describes the reasons why a value does not fit a schema.
type explainer struct {
	schema  *Schema
	work    work
	root    any
	printer *message.Printer
	// The parts of the schema by location; nil until the first lookup.
	parts    map[string]*jsonschema.Schema
	problems []problem
	more     bool // there are more problems than were examined
}

// problem is one reason why a value does not fit.
type problem struct {
	at   []string // the location of the value
	text string
}

// explain finds the problems of a value that does not fit. The validator's error for a large value
// could take too much memory, so that explain validates the parts of a large value one by one.
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

// full reports whether explain must stop to look for problems.
func (e *explainer) full() bool {
	if len(e.problems) >= maxExplained || e.work.left <= 0 {
		e.more = true
	}
	return e.more
}

func (e *explainer) add(at []string, text string) {
	e.problems = append(e.problems, problem{at: slices.Clone(at), text: text})
}

// collect adds the problems of a validation error for the value at a location.
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

// sentences returns the problems without duplicates, ordered by path.
func (e *explainer) sentences() []string {
	slices.SortFunc(e.problems, func(a, b problem) int {
		return cmp.Or(slices.CompareFunc(a.at, b.at, compareTokens), strings.Compare(a.text, b.text))
	})
	var all []string
	for _, p := range e.problems {
		all = append(all, jsontext.Path(p.at)+": "+p.text)
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

// compareTokens compares two tokens of a path, and the indexes of an array by their number.
func compareTokens(a, b string) int {
	i, err := strconv.Atoi(a)
	j, err2 := strconv.Atoi(b)
	if err == nil && err2 == nil {
		return cmp.Compare(i, j)
	}
	return strings.Compare(a, b)
}

// valueAt returns the value at a location of the arguments.
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
