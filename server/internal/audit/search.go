package audit

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// Query selects lines. A line has to match every field that is set. The zero value selects all
// lines.
type Query struct {
	Principal string // the key of the principal, or of the delegate
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
		(q.CallID == "" || q.CallID == s.CallID) && (q.Tool == "" || q.Tool == s.Tool) &&
		(q.Kind == "" || q.Kind == kind) && (q.Outcome == "" || q.Outcome == s.Outcome) &&
		(q.Since.IsZero() || !s.Time.Before(q.Since)) && (q.Until.IsZero() || s.Time.Before(q.Until)) &&
		(q.After == 0 || s.Seq > q.After) && (q.Tenants == nil || s.Tenant != "" && slices.Contains(q.Tenants, s.Tenant))
}

// Search reads files, the oldest first, and calls found for each line that matches, in their order.
// It leaves out lines that cannot be read, which Verify reports. An error of found ends it and is
// returned.
func Search(ctx context.Context, files []string, q Query, found func(Line) error) error {
	var newest []Line
	for _, path := range files {
		err := eachLine(path, func(_ int, text []byte, whole bool) error {
			var s searched
			if !whole || json.Unmarshal(text, &s) != nil || !q.matches(&s) {
				return ctx.Err()
			}
			line := Line{s.Seq, text}
			if q.Last == 0 {
				return errors.Join(ctx.Err(), found(line))
			}
			if newest = append(newest, line); len(newest) >= 2*q.Last {
				newest = slices.Delete(newest, 0, len(newest)-q.Last)
			}
			return ctx.Err()
		})
		if err != nil {
			return err
		}
	}
	for _, line := range newest[max(0, len(newest)-q.Last):] {
		if err := found(line); err != nil {
			return err
		}
	}
	return nil
}

// Follow is Search over the files of a log, and then over each line that it writes, until ctx ends,
// which is no error, or the log is closed.
func (l *Log) Follow(ctx context.Context, q Query, found func(Line) error) error {
	for {
		changed := l.Changed()
		files, err := Files(l.path)
		if err != nil {
			return err
		}
		if q.After > 0 && len(files) > 1 {
			files = files[len(files)-2:] // the lines after that number are in the newest files
		}
		err = Search(ctx, files, q, func(line Line) error {
			q.After = max(q.After, line.Seq)
			return found(line)
		})
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		q.Last = 0
		select {
		case <-changed:
		case <-ctx.Done():
			return nil
		}
		if l.isClosed() {
			return nil
		}
	}
}

// Read is Search over the files of the log, and Follow if q.Follow is set. Lines of tenants that q
// does not select are left out.
func (l *Log) Read(ctx context.Context, q tool.AuditQuery, found func(tool.AuditLine) error) error {
	query := Query{
		Principal: q.Principal, CallID: q.CallID, Tool: q.Tool, Kind: Kind(q.Kind), Outcome: Outcome(q.Decision), Since: q.Since, Until: q.Until,
		Tenants: q.Tenants, Last: q.Last,
	}
	show := func(line Line) error { return found(tool.AuditLine{Seq: line.Seq, Line: line.Text}) }
	if q.Follow {
		return l.Follow(ctx, query, show)
	}
	files, err := Files(l.path)
	if err != nil {
		return err
	}
	return Search(ctx, files, query, show)
}

func (l *Log) isClosed() bool {
	l.turn <- struct{}{}
	defer func() { <-l.turn }()
	return l.file == nil
}
