package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// Query selects lines. A line has to match every field that is set. The zero value selects all
// lines.
type Query struct {
	Principal string // the key of the principal, or of the delegate
	Approver  string // the key of the principal that approved
	CallID    string
	Tool      string
	Kind      Kind
	Outcome   Outcome
	Since     time.Time // only lines at or after this time
	Until     time.Time // only lines before this time
	After     uint64    // only lines with a higher number
	// Tenants are the tenants whose lines are selected; nil: all lines, also those without a tenant.
	Tenants []string
	Last    int // only the newest that match; 0: all
}

// Line is a line of a log.
type Line struct {
	Seq  uint64
	Text []byte // the JSON of the line, without its newline
}

// searched has the fields of a line that a Query compares.
type searched struct {
	link
	Time      time.Time `json:"time"`
	Kind      Kind      `json:"kind"`
	Tenant    string    `json:"tenant"`
	Principal string    `json:"principal"`
	Via       string    `json:"via"`
	Approver  string    `json:"approver"`
	CallID    string    `json:"call_id"`
	Tool      string    `json:"tool"`
	Outcome   Outcome   `json:"decision"`
}

func (q *Query) matches(s *searched) bool {
	kind := s.Kind
	if kind == "" {
		kind = OfCall // of a version without kinds
	}
	return (q.Principal == "" || q.Principal == s.Principal || q.Principal == s.Via) &&
		(q.Approver == "" || q.Approver == s.Approver) && (q.CallID == "" || q.CallID == s.CallID) && (q.Tool == "" || q.Tool == s.Tool) &&
		(q.Kind == "" || q.Kind == kind) && (q.Outcome == "" || q.Outcome == s.Outcome) &&
		(q.Since.IsZero() || !s.Time.Before(q.Since)) && (q.Until.IsZero() || s.Time.Before(q.Until)) &&
		(q.After == 0 || s.Seq > q.After) && (q.Tenants == nil || s.Tenant != "" && slices.Contains(q.Tenants, s.Tenant))
}

// filter is a Query, prepared for many lines.
type filter struct {
	Query
	texts [][]byte // that each line which matches contains
	since []byte   // Since in the form of a line, in whole seconds; nil: none
}

// plain are texts that JSON writes in one way only.
var plain = regexp.MustCompile(`^[\w./:@-]+$`)

const wholeSeconds = "2006-01-02T15:04:05"

func newFilter(q Query) *filter {
	f := &filter{Query: q}
	for _, text := range []string{q.Principal, q.Approver, q.CallID, q.Tool} {
		if plain.MatchString(text) {
			f.texts = append(f.texts, []byte(text))
		}
	}
	if since := q.Since.UTC().Format(wholeSeconds); !q.Since.IsZero() && len(since) == len(wholeSeconds) {
		f.since = []byte(since)
	}
	return f
}

// line returns a line if it matches.
func (f *filter) line(text []byte) (Line, bool) {
	var s searched
	if !f.mayMatch(text) || json.Unmarshal(text, &s) != nil || !f.matches(&s) {
		return Line{}, false
	}
	return Line{s.Seq, text}, true
}

// mayMatch reports without decoding whether a line can match. Most lines of a large log cannot.
func (f *filter) mayMatch(text []byte) bool {
	for _, part := range f.texts {
		if !bytes.Contains(text, part) {
			return false
		}
	}
	if f.since == nil {
		return true
	}
	// A quotation mark in a value is escaped, so this is the key.
	_, value, found := bytes.Cut(text, []byte(`,"time":"`))
	end := bytes.IndexByte(value, '"')
	return !found || end <= len(f.since) || value[end-1] != 'Z' || bytes.Compare(value[:len(f.since)], f.since) >= 0
}

// Search reads files, the oldest first, and calls found for each line that matches, in their order.
// It leaves out lines that cannot be read, which Verify reports. An error of found ends it and is
// returned. If Last is set, it reads the newest lines first, and no more than it needs.
func Search(ctx context.Context, files []string, q Query, found func(Line) error) error {
	parts := make([]part, len(files))
	for i, path := range files {
		parts[i].path = path
	}
	return search(ctx, parts, q, found)
}

func search(ctx context.Context, parts []part, q Query, found func(Line) error) error {
	f := newFilter(q)
	if q.Last > 0 {
		return searchNewest(ctx, parts, f, found)
	}
	for _, p := range parts {
		err := p.forward(func(_ int, text []byte, whole bool) error {
			if line, ok := f.line(text); ok && whole {
				return errors.Join(ctx.Err(), found(line))
			}
			return ctx.Err()
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// errEnough ends the reading of lines.
var errEnough = errors.New("no more lines are needed")

func searchNewest(ctx context.Context, parts []part, f *filter, found func(Line) error) error {
	var newest []Line
	for _, p := range slices.Backward(parts) {
		err := p.backward(func(text []byte, whole bool) error {
			if line, ok := f.line(text); ok && whole {
				newest = append(newest, Line{line.Seq, bytes.Clone(line.Text)})
			}
			if len(newest) == f.Last {
				return errEnough
			}
			return ctx.Err()
		})
		if errors.Is(err, errEnough) {
			break
		}
		if err != nil {
			return err
		}
	}
	for _, line := range slices.Backward(newest) {
		if err := found(line); err != nil {
			return err
		}
	}
	return nil
}

// Read is Search over the files of the log, and Follow if q.Follow is set. Lines of tenants that q
// does not select are left out.
func (l *Log) Read(ctx context.Context, q tool.AuditQuery, found func(tool.AuditLine) error) error {
	query := Query{
		Principal: q.Principal, Approver: q.Approver, CallID: q.CallID, Tool: q.Tool, Kind: Kind(q.Kind), Outcome: Outcome(q.Decision), Since: q.Since, Until: q.Until,
		Tenants: q.Tenants, Last: q.Last,
	}
	show := func(line Line) error { return found(tool.AuditLine{Seq: line.Seq, Line: line.Text}) }
	if q.Follow {
		return l.Follow(ctx, query, show)
	}
	parts, err := l.parts()
	if err != nil || len(parts) == 0 {
		return err
	}
	defer parts[len(parts)-1].file.Close()
	return search(ctx, parts, query, show)
}
