package arguments

import (
	"errors"
	"strings"

	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

const (
	// maxProblems bounds how many problems one error names: a model mends a few at a time, and the text goes into its
	// context.
	maxProblems = 10
	// maxExplained bounds how many problems are looked at for that.
	maxExplained = 500
	// maxExplainSteps bounds the validations that say what is wrong: each step may keep some hundred bytes.
	maxExplainSteps = 1 << 17
)

// errTooMuch says that validation would take too long.
var errTooMuch = errors.New("the arguments cannot be checked: by the tool's schema, values within each other as deep or as " +
	"many as these can be read in so many ways that checking would take too long; send fewer of them, nested less deep, and shorter regular expressions")

// Validate returns nil if the arguments fit the schema, else an error that names each problem's path, what was given
// and what is allowed, in words that a model can act on. Its work is bounded: arguments that would take too long are
// refused.
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

// notFitting is the error for arguments of which some things are wrong.
func notFitting(sentences []string) error {
	return errors.New("the arguments do not fit the tool's schema:\n- " + strings.Join(sentences, "\n- "))
}
