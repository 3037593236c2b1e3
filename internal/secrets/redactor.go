package secrets

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// remembered is how many values of one secret are kept out of texts, the latest: one that changes every hour must not
// make everything slower for ever, and its old values are of no use to anybody.
const remembered = 16

// Redactor puts [secret NAME] in the place of the values of secrets, also where they are escaped or encoded. It knows
// those that it has learnt; shorter ones than 6 bytes it leaves, because they stand in too much else. It does not know what
// a program computes of a value otherwise: one that is reversed, compressed, encrypted, split into parts, in mixed letters or
// digits, in other encodings such as base32, or dumped in lines with offsets. Line by line, as in logs, it does not know
// base64 that lines interrupt; nor in texts of more than 1 MiB. A nil Redactor
// and one that has learnt nothing return what they are given. Its methods may be called from any goroutine; they never
// change what they are given, and return it as it is if no secret is in it.
type Redactor struct {
	mu      sync.Mutex // held while a value is learnt
	values  []secret   // the oldest first
	matcher atomic.Pointer[matcher]
}

type secret struct{ name, value string }

// Learn makes the redactor know a value. To learn one that is known costs next to nothing.
func (r *Redactor) Learn(name, value string) {
	if len(value) < shortest || r.matcher.Load().knows(value) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.matcher.Load().knows(value) {
		return
	}
	mine := 0
	for _, known := range r.values {
		if known.name == name {
			mine++
		}
	}
	if mine == remembered {
		oldest := slices.IndexFunc(r.values, func(known secret) bool { return known.name == name })
		r.values = slices.Delete(r.values, oldest, oldest+1)
	}
	r.values = append(r.values, secret{name, value})
	r.matcher.Store(newMatcher(r.values))
}

func (r *Redactor) load() *matcher {
	if r == nil {
		return nil
	}
	return r.matcher.Load()
}

// Text returns a text without secrets.
func (r *Redactor) Text(text string) string {
	if m := r.load(); m != nil {
		return m.text(text)
	}
	return text
}

// Line returns a line of a log without secrets. cut says that it is only a beginning: then what may be the beginning of
// a secret is missing at its end.
func (r *Redactor) Line(line string, cut bool) string {
	m := r.load()
	if m == nil {
		return line
	}
	redacted := m.text(line)
	if redacted != line && json.Valid([]byte(line)) {
		redacted = string(m.json([]byte(line)))
	}
	if cut {
		redacted = m.withoutBeginning(redacted)
	}
	return redacted
}

// JSON returns a JSON value without secrets, which is valid if the given one is: a number that holds a secret becomes a
// string.
func (r *Redactor) JSON(value json.RawMessage) json.RawMessage {
	if m := r.load(); m != nil && len(value) > 0 {
		return m.json(value)
	}
	return value
}

// Bytes returns data of any kind without secrets.
func (r *Redactor) Bytes(data []byte) []byte {
	m := r.load()
	if m == nil || len(data) == 0 {
		return data
	}
	text := string(data)
	if redacted := m.text(text); redacted != text {
		return []byte(redacted)
	}
	return data
}

// matcher finds all forms of some secrets in one pass. It does not change.
type matcher struct {
	values        map[string]bool
	forms         []string // the longest first
	coded         []coded  // in base64, to be found across line breaks
	shortestCoded int      // of these forms, in bytes
	replacer      *strings.Replacer
	spans         bool // a value may be more than one token of JSON
}

func newMatcher(secrets []secret) *matcher {
	m := &matcher{values: make(map[string]bool, len(secrets))}
	names := map[string]string{}
	for _, s := range secrets {
		m.values[s.value] = true
		m.spans = m.spans || strings.ContainsAny(s.value, `"{}[],:`)
		if len(s.value) <= longestRecoded {
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
	// Of two that begin at the same place, the replacer takes the first.
	slices.SortFunc(m.forms, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	pairs := make([]string, 0, 2*len(m.forms))
	for _, form := range m.forms {
		pairs = append(pairs, form, "[secret "+names[form]+"]")
	}
	m.replacer = strings.NewReplacer(pairs...)
	return m
}

func (m *matcher) knows(value string) bool { return m != nil && m.values[value] }

func (m *matcher) text(text string) string {
	if len(text) < shortest {
		return text
	}
	return m.unwrapped(m.replacer.Replace(text))
}

// withoutBeginning returns a text without what may be the beginning of a secret at its end.
func (m *matcher) withoutBeginning(text string) string {
	const telling = 3 // bytes; less is no loss
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
