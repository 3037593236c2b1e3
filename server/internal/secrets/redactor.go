package secrets

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/toolhost/toolhost/tool"
)

// remembered is the number of values that are redacted for each place of a secret. These are the
// latest values: a secret that changes every hour must not slow redaction down forever, and its old
// values are useless to an attacker.
const remembered = 16

// Redactor replaces the values of secrets by [secret NAME], also if they are escaped or encoded.
//
// It redacts the values that it has learned and that have at least 6 bytes; shorter ones occur in
// too many texts by accident. It does not recognize a value that is reversed, compressed,
// encrypted, split, with some letters in another case, or in another encoding, such as UTF-16,
// base32 or a dump of its bytes. In logs, which it reads line by line, and in texts of more than 1
// MiB, it does not recognize forms that extend over several lines.
//
// A nil Redactor, and one that has learned nothing, return their input. The methods are safe for
// concurrent use. They never change their input, and return it unchanged if it contains no secret.
type Redactor struct {
	mu     sync.Mutex // held while a value is learned, and while the matcher is made
	values []secret   // the oldest first
	// stale says that matcher does not have all values. The next text makes a new one, so that to
	// learn many values in sequence makes one matcher and not one for each value.
	stale   atomic.Bool
	matcher atomic.Pointer[matcher]
}

// secret is a value that a Redactor has learned. place distinguishes the values of one secret that
// are valid at the same time, for different tenants.
type secret struct{ name, place, value string }

// Learn adds a value. To add a known value costs almost nothing. Of several secrets with one value,
// texts show the name that is first in byte order.
func (r *Redactor) Learn(name, value string) { r.learn(name, "", value) }

// LearnAt is Learn for a name that has several values that are valid at the same time. place
// distinguishes them, such as the key of a principal. The latest values of each place are redacted.
func (r *Redactor) LearnAt(name, place, value string) { r.learn(name, place, value) }

func (r *Redactor) learn(name, place, value string) {
	if len(value) < shortest || !r.stale.Load() && r.matcher.Load().knows(name, value) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	mine := 0
	for _, known := range r.values {
		if known.value == value && known.name <= name {
			return
		}
		if known.name == name && known.place == place {
			mine++
		}
	}
	if mine == remembered {
		oldest := slices.IndexFunc(r.values, func(known secret) bool { return known.name == name && known.place == place })
		r.values = slices.Delete(r.values, oldest, oldest+1)
	}
	r.values = append(r.values, secret{name, place, value})
	r.stale.Store(true)
}

// load returns the matcher of all values that are learned, nil if there are none.
func (r *Redactor) load() *matcher {
	if r == nil {
		return nil
	}
	if r.stale.Load() {
		r.renew()
	}
	return r.matcher.Load()
}

// renew makes the matcher unless another goroutine has made it meanwhile.
func (r *Redactor) renew() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stale.Load() {
		r.matcher.Store(newMatcher(r.values))
		r.stale.Store(false)
	}
}

// Text returns a text without secrets.
func (r *Redactor) Text(text string) string {
	if m := r.load(); m != nil {
		return m.text(text)
	}
	return text
}

// Line returns a line of a log, or a part of one, without secrets. If cut is set, the end of the
// line is missing; Line then removes a possible beginning of a secret from the end of the part. If
// headless is set, the beginning of the line is missing; Line then removes a possible end of a
// secret from the beginning of the part.
func (r *Redactor) Line(line string, headless, cut bool) string {
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
	if headless {
		redacted = m.withoutEnd(redacted)
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
		if outcome.Settled != nil {
			said := *outcome.Settled
			said.Reason = r.Text(said.Reason)
			if said.Result != nil {
				result := r.result(*said.Result)
				said.Result = &result
			}
			outcome.Settled = &said
		}
		ev.Ended = &outcome
	case ev.Question != nil:
		question := r.question(*ev.Question)
		ev.Question = &question
	}
	return ev
}

func (r *Redactor) question(q tool.Question) tool.Question {
	q.Key = r.Text(q.Key)
	if q.Person != nil {
		person := *q.Person
		person.Message, person.Schema = r.Text(person.Message), r.JSON(person.Schema)
		q.Person = &person
	}
	if q.Model != nil {
		model := *q.Model
		model.System, model.Messages = r.Text(model.System), slices.Clone(model.Messages)
		for i := range model.Messages {
			model.Messages[i].Content = r.content(model.Messages[i].Content)
		}
		q.Model = &model
	}
	return q
}

func (r *Redactor) status(s tool.Status) tool.Status {
	s.Message, s.Parameters, s.Result = r.Text(s.Message), r.JSON(s.Parameters), r.JSON(s.Result)
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
	result.Content, result.Effects = r.content(result.Content), slices.Clone(result.Effects)
	for i := range result.Effects {
		e := &result.Effects[i]
		e.Key, e.Value = r.Text(e.Key), r.JSON(e.Value)
	}
	result.Metadata = r.members(result.Metadata)
	return result
}

func (r *Redactor) content(blocks []tool.Content) []tool.Content {
	blocks = slices.Clone(blocks)
	for i := range blocks {
		c := &blocks[i]
		c.Text, c.JSON, c.Data = r.Text(c.Text), r.JSON(c.JSON), r.Bytes(c.Data)
		c.Name, c.MediaType, c.URI = r.Text(c.Name), r.Text(c.MediaType), r.Text(c.URI)
		if c.Artifact != nil {
			a := *c.Artifact
			a.Name, a.MediaType, a.Head, a.Tail = r.Text(a.Name), r.Text(a.MediaType), r.Text(a.Head), r.Text(a.Tail)
			c.Artifact = &a
		}
	}
	return blocks
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
	if redacted.Message = r.clipped(err.Message); redacted.Message != err.Message {
		redacted.Err = nil // its message is not redacted
	}
	if err.Exit != nil {
		exit := r.Exit(*err.Exit)
		redacted.Exit = &exit
	}
	return &redacted
}

// clipped returns a text without secrets. The SDKs shorten the message of an error and append an
// ellipsis, before toolhost can see a secret that they cut. So clipped also removes the beginning
// of a secret before an ellipsis at the end.
func (r *Redactor) clipped(text string) string {
	const more = "…"
	if head, cut := strings.CutSuffix(text, more); cut {
		return r.Line(head, false, true) + more
	}
	return r.Text(text)
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
