package secrets

import (
	"cmp"
	"slices"
	"strings"
)

// matcher finds all forms of a set of secrets in one pass. It is immutable.
type matcher struct {
	shown         map[string]string // the name that each value is replaced by
	forms         []string          // the longest first
	coded         []coded           // the forms in base64, which are found across line breaks
	shortestCoded int               // the length of the shortest of these forms in bytes
	replacer      *strings.Replacer
	spans         bool // a value may extend over several JSON tokens
}

func newMatcher(secrets []secret) *matcher {
	m := &matcher{shown: make(map[string]string, len(secrets))}
	names := map[string]string{}
	// Of several secrets with one value, the first name is shown, whichever was read first.
	secrets = slices.SortedStableFunc(slices.Values(secrets), func(a, b secret) int { return cmp.Compare(a.name, b.name) })
	for _, s := range secrets {
		if _, taken := m.shown[s.value]; taken {
			continue
		}
		m.shown[s.value] = s.name
		m.spans = m.spans || strings.ContainsAny(s.value, `"{}[],:`)
		if len(s.value) <= longestWrapped {
			for _, form := range base64Forms(s.value) {
				if m.coded = append(m.coded, coded{form, s.name}); m.shortestCoded == 0 || len(form) < m.shortestCoded {
					m.shortestCoded = len(form)
				}
			}
		}
		for _, form := range forms(s.value) {
			if _, taken := names[form]; !taken {
				names[form] = s.name
				m.forms = append(m.forms, form)
			}
		}
	}
	// Of two forms that begin at the same byte, the replacer takes the first.
	slices.SortFunc(m.forms, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	pairs := make([]string, 0, 2*len(m.forms))
	for _, form := range m.forms {
		pairs = append(pairs, form, "[secret "+names[form]+"]")
	}
	m.replacer = strings.NewReplacer(pairs...)
	return m
}

// knows reports whether to learn a value of the named secret would change nothing.
func (m *matcher) knows(name, value string) bool {
	if m == nil {
		return false
	}
	shown, ok := m.shown[value]
	return ok && shown <= name
}

func (m *matcher) text(text string) string {
	if len(text) < shortest {
		return text
	}
	return m.unwrapped(m.replacer.Replace(text))
}

// telling is the number of bytes that a part of a secret must have to be removed at a cut of a
// line. Fewer bytes reveal nothing useful.
const telling = 3

// withoutEnd returns a text without a possible end of a secret at its beginning.
func (m *matcher) withoutEnd(text string) string {
	longest := 0
	for _, form := range m.forms {
		for n := min(len(form)-1, len(text)); n >= telling && n > longest; n-- {
			if strings.HasPrefix(text, form[len(form)-n:]) {
				longest = n
			}
		}
	}
	return text[longest:]
}

// withoutBeginning returns a text without a possible beginning of a secret at its end.
func (m *matcher) withoutBeginning(text string) string {
	longest := 0
	for _, form := range m.forms {
		for n := min(len(form)-1, len(text)); n >= telling && n > longest; n-- {
			if strings.HasSuffix(text, form[:n]) {
				longest = n
			}
		}
	}
	return text[:len(text)-longest]
}
