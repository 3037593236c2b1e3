package arguments

import (
	"errors"
	"strings"

	"golang.org/x/text/language"
	"golang.org/x/text/message"
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
// path, the given value, and what is allowed, in words that a model can act on. The work is
// bounded: Validate refuses arguments that would take too long.
func (s *Schema) Validate(p Parsed) error {
	if s.Settled(p) {
		return nil
	}
	w := s.work(maxSteps)
	value := p.form.decoded()
	if s.fits(&w, s.compiled, value) {
		return nil
	}
	if w.left <= 0 {
		return errTooMuch
	}
	e := explainer{schema: s, work: s.work(maxSteps / 2), root: value, printer: message.NewPrinter(language.English)}
	e.explain(s.compiled, value, nil)
	return notFitting(append(misspelled(s.Undeclared(p)), e.sentences()...))
}

// notFitting returns the error that lists the problems of arguments.
func notFitting(sentences []string) error {
	return errors.New("the arguments do not fit the tool's schema:\n- " + strings.Join(sentences, "\n- "))
}
