package history

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// readPast returns the newest events, and the newest exits of each plugin.
func (l *Log) readPast(ctx context.Context) ([]Entry, error) {
	events, err := newest(ctx, l.reader, "events", min(l.cfg.Events, maxEvents), func(*tool.PluginEvent) bool { return true })
	if err != nil {
		return nil, err
	}
	ofPlugin := map[string]int{}
	exits, err := newest(ctx, l.reader, "exits", maxExits, func(e *Exit) bool {
		ofPlugin[e.Plugin]++
		return ofPlugin[e.Plugin] <= l.cfg.Exits
	})
	if err != nil {
		return nil, err
	}
	past := make([]Entry, 0, len(events)+len(exits))
	for _, e := range events {
		past = append(past, Entry{Event: e})
	}
	for _, e := range exits {
		past = append(past, Entry{Exit: e})
	}
	return past, nil
}

// newest returns those of the newest rows of a table that keep accepts, the oldest of them first.
// It leaves out a row that is no JSON of the type.
func newest[T any](ctx context.Context, db *sql.DB, table string, most int, keep func(*T) bool) ([]*T, error) {
	rows, err := db.QueryContext(ctx, "SELECT data FROM "+table+" ORDER BY number DESC LIMIT ?", most)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []*T
	for rows.Next() {
		var data []byte
		if err := rows.Scan(&data); err != nil {
			return nil, err
		}
		row := new(T)
		if json.Unmarshal(data, row) == nil && keep(row) {
			all = append(all, row)
		}
	}
	slices.Reverse(all)
	return all, rows.Err()
}

// Calls yields the calls that were appended before, that began before a time and not before since,
// the newest first, until visit returns false. A zero time does not bound.
func (l *Log) Calls(ctx context.Context, since, before time.Time, visit func(tool.CallRecord) bool) error {
	if l == nil {
		return nil
	}
	if err := l.Flush(ctx); err != nil {
		return err
	}
	from, to := bounds(since, before)
	rows, err := l.reader.QueryContext(ctx, "SELECT data FROM calls WHERE time >= ? AND time < ? ORDER BY time DESC", from, to)
	if err != nil {
		return fmt.Errorf("reading the calls of the history: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var data []byte
		if err := rows.Scan(&data); err != nil {
			return fmt.Errorf("reading the calls of the history: %w", err)
		}
		var c storedCall
		if json.Unmarshal(data, &c) == nil && !visit(c.record()) {
			return nil
		}
	}
	return rows.Err()
}

// bounds returns times as the files have them. A zero time does not bound.
func bounds(since, before time.Time) (from, to int64) {
	to = math.MaxInt64
	if !since.IsZero() {
		from = since.UnixNano()
	}
	if !before.IsZero() {
		to = before.UnixNano()
	}
	return from, to
}

// Hours returns the counts of all hours from the one that contains since, by hour, tenant and
// tool, the oldest first. A zero time means all.
func (l *Log) Hours(ctx context.Context, since time.Time) ([]Hour, error) {
	if l == nil {
		return nil, nil
	}
	if err := l.Flush(ctx); err != nil {
		return nil, err
	}
	rows, err := l.reader.QueryContext(ctx, "SELECT time, tenant, tool, plugin, data FROM hours WHERE time >= ? ORDER BY time, tenant, tool", firstHour(since))
	if err != nil {
		return nil, fmt.Errorf("reading the statistics of the history: %w", err)
	}
	defer rows.Close()
	var hours []Hour
	for rows.Next() {
		h, read, err := scanHour(rows.Scan)
		if err != nil {
			return nil, fmt.Errorf("reading the statistics of the history: %w", err)
		}
		if read {
			hours = append(hours, h)
		}
	}
	return hours, rows.Err()
}

// firstHour returns the beginning of the hour that contains a time, as the files have it.
func firstHour(since time.Time) int64 {
	if since.IsZero() {
		return 0
	}
	return since.UTC().Truncate(time.Hour).UnixNano()
}

// scanHour reads a row. It reports whether its counts can be read.
func scanHour(scan func(...any) error) (h Hour, read bool, err error) {
	var at int64
	var data []byte
	err = scan(&at, &h.Tenant, &h.Tool, &h.Plugin, &data)
	h.Start = time.Unix(0, at).UTC()
	return h, err == nil && json.Unmarshal(data, &h.Counts) == nil, err
}

// storedCall is the JSON of a call. tool.Error has no JSON form.
type storedCall struct {
	tool.CallRecord
	Error *storedError `json:"error,omitempty"` // replaces the record's error
}

type storedError struct {
	Kind    tool.Kind `json:"kind"`
	Message string    `json:"message"`
}

func toStoredCall(c *tool.CallRecord) storedCall {
	stored := storedCall{CallRecord: *c}
	stored.Err = nil
	if c.Err != nil {
		stored.Error = &storedError{Kind: c.Err.Kind, Message: c.Err.Message}
	}
	return stored
}

func (s *storedCall) record() tool.CallRecord {
	c := s.CallRecord
	if s.Error != nil {
		c.Err = &tool.Error{Kind: s.Error.Kind, Message: s.Error.Message, CallID: c.CallID, Plugin: c.Plugin, Instance: c.Instance}
	}
	return c
}
