package policy

import (
	"context"
	"regexp"
	"slices"

	"github.com/toolhost/toolhost/internal/pattern"
)

// ReadUntilEnd matches a text under a context, and returns the number of characters that were read
// when the context had ended.
func ReadUntilEnd(text, expression string, ctx func(looks int) context.Context, looks int) int {
	w := work{ctx: ctx(looks), left: maxSteps}
	found, err := w.matches(regexp.MustCompile(expression), pattern.Size(expression), text)
	if err == nil || found {
		return len(text)
	}
	r := &endingReader{ctx: ctx(looks), text: text, every: max(1, fewSteps/pattern.Size(expression))}
	for {
		if _, _, err := r.ReadRune(); err != nil {
			return len(text) - len(r.text)
		}
	}
}

// Uncharged returns the functions of rules that are not charged in advance.
func Uncharged() ([]string, error) {
	env, err := newEnv()
	if err != nil {
		return nil, err
	}
	var names []string
	for name := range env.Functions() {
		if costs[name] == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}
