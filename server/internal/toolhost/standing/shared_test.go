package standing_test

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/standing"
	"github.com/toolhost/toolhost/tool"
)

// table is a database of approvals with one toolhost.
type table struct {
	rows    []standing.Row
	written []standing.Row
	follow  func([]standing.Row, bool) error
}

func (d *table) Insert(_ context.Context, r standing.Row) (int64, error) {
	r.Number = int64(len(d.rows)) + 1
	d.rows = append(d.rows, r)
	return r.Number, nil
}

func (d *table) Update(_ context.Context, rows []standing.Row) error {
	d.written = append(d.written, rows...)
	return nil
}

func (d *table) Remove(context.Context, []int64) error { return nil }
func (d *table) Close() error                          { return nil }
func (d *table) Fresh() bool                           { return true }
func (d *table) Refresh(context.Context) error         { return d.follow(d.rows, true) }

func (d *table) Follow(ctx context.Context, f func([]standing.Row, bool) error) error {
	d.follow = f
	return d.Refresh(ctx)
}

// An approval in the database that cannot be read, or has something that this toolhost does not
// know, is not used. It disturbs no other one, and nothing is written about it.
func TestAnApprovalThatCannotBeRead(t *testing.T) {
	var log bytes.Buffer
	d := &table{}
	s, err := standing.Open(t.Context(), standing.Config{Shared: d, Now: func() time.Time { return now }, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var ids []string
	for _, name := range []string{"whole", "newer", "broken", "two"} {
		p := proposal(func(r *tool.ApprovalRequest, _ *tool.StandingApproval) { r.RequestID = name })
		p.Limits = standing.Limits{PerPrincipal: 10, PerTenant: 10}
		a, _, err := s.Create(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, a.ID)
	}
	read := slices.Clone(d.rows)
	d.rows[1].Data = []byte(strings.Replace(string(d.rows[1].Data), "{", `{"at_most":100,`, 1))
	d.rows[2].Data = []byte("{")
	d.rows[3].Data = append(slices.Clone(d.rows[3].Data), "{}"...)
	refresh := func(rows []standing.Row, all bool, want ...bool) {
		t.Helper()
		if err := d.follow(rows, all); err != nil {
			t.Fatal(err)
		}
		for i, id := range ids {
			if s.InForce(id) != want[i] {
				t.Errorf("approval %d is in force: %v", i, !want[i])
			}
		}
	}
	refresh(d.rows[1:2], false, true, false, true, true)
	for range 2 {
		refresh(d.rows, true, true, false, false, false)
	}
	again := proposal(func(r *tool.ApprovalRequest, _ *tool.StandingApproval) { r.RequestID = "broken" })
	again.Limits = standing.Limits{PerPrincipal: 10, PerTenant: 10}
	if _, _, err := s.Create(t.Context(), again); tool.KindOf(err) != tool.KindConflict || !strings.Contains(err.Error(), ids[2]) || len(d.rows) != 4 {
		t.Errorf("repeating the request of one that cannot be read: %v; there are %d rows", err, len(d.rows))
	}
	if n := strings.Count(log.String(), "cannot be read"); n != 3 || !strings.Contains(log.String(), "at_most") {
		t.Errorf("the log has it %d times:\n%s", n, &log)
	}
	s.Shorten(time.Minute)
	if _, err := s.End(t.Context(), tool.ApprovalChanged, func(*tool.StandingApproval) bool { return true }); err != nil {
		t.Fatal(err)
	}
	for _, r := range d.written {
		if r.ID != ids[0] {
			t.Errorf("row %s was written", r.ID)
		}
	}
	if len(d.written) == 0 {
		t.Error("the approval that can be read was not ended")
	}
	refresh(read[1:], false, false, true, true, true) // by a newer program
}
