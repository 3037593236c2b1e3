package secrets

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// remembered is the number of values that are redacted for each secret, the latest ones. A value
// that changes every hour must not slow everything down forever, and its old values are useless.
const remembered = 16

// Redactor replaces the values of secrets by [secret NAME], also if they are escaped or encoded.
//
// It redacts the values that it has learned and that have at least 6 bytes; shorter ones occur in
// too many texts by accident. It does not recognize a value that is reversed, compressed,
// encrypted, split, in mixed case, in another encoding such as base32, or dumped in lines with
// offsets. It does not recognize base64 across line breaks in logs, which it reads line by line,
// and in texts of more than 1 MiB.
//
// A nil Redactor, and one that has learned nothing, return their input. The methods are safe for
// concurrent use. They never change their input, and return it unchanged if it contains no secret.
type Redactor struct {
	mu      sync.Mutex // held while a value is learned
	values  []secret   // the oldest first
	matcher atomic.Pointer[matcher]
}

type secret struct{ name, value string }

// Learn adds a value. To add a known value costs almost nothing.
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

// Line returns a line of a log without secrets. If cut is set, the line was shortened; Line then
// removes a possible beginning of a secret from its end.
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

// JSON returns a JSON value without secrets. The result is valid if the input is: a number that
// contains a secret becomes a string.
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

// matcher finds all forms of a set of secrets in one pass. It is immutable.
type matcher struct {
	values        map[string]bool
	forms         []string // the longest first
	coded         []coded  // the forms in base64, which are found across line breaks
	shortestCoded int      // the length of the shortest of these forms in bytes
	replacer      *strings.Replacer
	spans         bool // a value may extend over several JSON tokens
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
	// Of two forms that begin at the same byte, the replacer takes the first.
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

// withoutBeginning returns a text without a possible beginning of a secret at its end.
func (m *matcher) withoutBeginning(text string) string {
	const telling = 3 // bytes; to reveal fewer is no loss
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

// Writer returns a writer for a log. Each Write is one record, which goes to w without secrets. If
// isJSON is set, records are JSON and stay JSON.
func (r *Redactor) Writer(w io.Writer, isJSON bool) io.Writer {
	if r == nil {
		return w
	}
	return &writer{redactor: r, to: w, isJSON: isJSON}
}

type writer struct {
	redactor *Redactor
	to       io.Writer
	isJSON   bool
}

// Write implements io.Writer.
func (w *writer) Write(record []byte) (int, error) {
	redacted := w.redactor.Bytes(record)
	if w.isJSON && !bytes.Equal(redacted, record) {
		redacted = w.redactor.JSON(record)
	}
	if _, err := w.to.Write(redacted); err != nil {
		return 0, err
	}
	return len(record), nil
}
