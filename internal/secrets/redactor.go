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

	"github.com/toolhost/toolhost/tool"
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

// Event returns an event of a call without secrets.
func (r *Redactor) Event(ev tool.Event) tool.Event {
	if r.load() == nil {
		return ev
	}
	switch {
	case ev.Status != nil:
		status := r.status(*ev.Status)
		ev.Status = &status
	case ev.Log != nil:
		record := r.Record(*ev.Log)
		ev.Log = &record
	case ev.Ended != nil:
		outcome := *ev.Ended
		outcome.Result, outcome.Err = r.result(outcome.Result), r.Error(outcome.Err)
		ev.Ended = &outcome
	}
	return ev
}

func (r *Redactor) status(s tool.Status) tool.Status {
	s.Tip, s.Parameters, s.Result = r.Text(s.Tip), r.JSON(s.Parameters), r.JSON(s.Result)
	if s.Progress != nil {
		progress := *s.Progress
		progress.Message = r.Text(progress.Message)
		s.Progress = &progress
	}
	return s
}

// Record returns a log record without secrets.
func (r *Redactor) Record(record tool.LogRecord) tool.LogRecord {
	if r.load() == nil {
		return record
	}
	record.Message, record.Attributes = r.Text(record.Message), r.members(record.Attributes)
	return record
}

func (r *Redactor) result(result tool.Result) tool.Result {
	result.Content, result.Effects = slices.Clone(result.Content), slices.Clone(result.Effects)
	for i := range result.Content {
		c := &result.Content[i]
		c.Text, c.JSON, c.Data = r.Text(c.Text), r.JSON(c.JSON), r.Bytes(c.Data)
		c.Name, c.MediaType = r.Text(c.Name), r.Text(c.MediaType)
		if c.Artifact != nil {
			a := *c.Artifact
			a.Name, a.MediaType, a.Head, a.Tail = r.Text(a.Name), r.Text(a.MediaType), r.Text(a.Head), r.Text(a.Tail)
			c.Artifact = &a
		}
	}
	for i := range result.Effects {
		e := &result.Effects[i]
		e.Key, e.Value = r.Text(e.Key), r.JSON(e.Value)
	}
	result.Metadata = r.members(result.Metadata)
	return result
}

// members returns the members of a JSON object without secrets.
func (r *Redactor) members(members map[string]json.RawMessage) map[string]json.RawMessage {
	if len(members) == 0 {
		return members
	}
	redacted := make(map[string]json.RawMessage, len(members))
	for key, value := range members {
		redacted[r.Text(key)] = r.JSON(value)
	}
	return redacted
}

// Spec returns a plugin's description of a tool for one session without secrets. The description
// for all sessions cannot contain any, because the plugin makes it before it receives secrets.
func (r *Redactor) Spec(spec tool.Spec) tool.Spec {
	if r.load() == nil {
		return spec
	}
	spec.DisplayName, spec.Description = r.Text(spec.DisplayName), r.Text(spec.Description)
	spec.InputSchema, spec.OutputSchema = r.JSON(spec.InputSchema), r.JSON(spec.OutputSchema)
	spec.InputExamples = slices.Clone(spec.InputExamples)
	for i := range spec.InputExamples {
		e := &spec.InputExamples[i]
		e.Description, e.Arguments = r.Text(e.Description), r.JSON(e.Arguments)
	}
	return spec
}

// Error returns an error without secrets, and nil for nil.
func (r *Redactor) Error(err *tool.Error) *tool.Error {
	if err == nil || r.load() == nil {
		return err
	}
	redacted := *err
	if redacted.Message = r.Text(err.Message); redacted.Message != err.Message {
		redacted.Err = nil // its message is not redacted
	}
	if err.Exit != nil {
		exit := r.Exit(*err.Exit)
		redacted.Exit = &exit
	}
	return &redacted
}

// Exit returns the exit of a process without secrets.
func (r *Redactor) Exit(exit tool.Exit) tool.Exit {
	if r.load() == nil {
		return exit
	}
	exit.Reason, exit.LastStderr = r.Text(exit.Reason), slices.Clone(exit.LastStderr)
	for i, line := range exit.LastStderr {
		exit.LastStderr[i] = r.Text(line)
	}
	return exit
}
