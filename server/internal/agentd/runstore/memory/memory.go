// Package memory is a runstore.Store that ends with its process, for tests and for runs that need
// no journal afterwards.
package memory

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
)

var _ runstore.Store = (*Store)(nil)

// Store keeps journals in memory. The zero value is not usable; call New.
type Store struct {
	mu    sync.Mutex
	runs  map[string]*run
	order []*run // in order of creation; nil: deleted
	spent map[spender]runstore.Spent
	gone  map[string]bool // the ids of the deleted runs
	told  []runstore.Message
	// changes counts the changes of decisions
	changes int64
	given   []runstore.Verdict // the oldest first
	// verdicts counts those that were ever given
	verdicts int64
}

// spender is the owner of runs on one day.
type spender struct {
	day           int64
	owner, tenant string
}

// Spent implements runstore.Spending.
func (s *Store) Spent(_ context.Context, day int64, of runstore.Query) (runstore.Spent, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sum := runstore.Spent{Day: day}
	for by, spent := range s.spent {
		if by.day == day && of.Selects(&runstore.Head{Owner: by.owner, Tenant: by.tenant}) {
			sum = sum.Add(spent)
		}
	}
	return sum, nil
}

// run is guarded by Store.mu. Records never change, so that slices of them can be shared.
type run struct {
	place   int // in Store.order
	info    runstore.Run
	records []runstore.Record
	kept    runstore.Snapshot
	changed int64 // Store.changes at the last change of the decisions; 0: there was none
	// contents are by digest; they never change
	contents map[string][]byte
}

// New returns an empty store.
func New() *Store {
	return &Store{runs: make(map[string]*run), spent: make(map[spender]runstore.Spent), gone: make(map[string]bool)}
}

// Append implements runstore.Store.
func (s *Store) Append(ctx context.Context, batch runstore.Batch) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := batch.Check(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.runs[batch.RunID]
	var last uint64
	if r != nil {
		last = r.info.LastSeq
	}
	if last != batch.After {
		return runstore.Conflict(&batch, last)
	}
	if r == nil {
		if s.gone[batch.RunID] {
			return runstore.Deleted(batch.RunID)
		}
		r = &run{place: len(s.order), info: runstore.Run{ID: batch.RunID, CreateTime: instant(batch.Records[0].Time)}}
		s.runs[batch.RunID] = r
		s.order = append(s.order, r)
	}
	for _, rec := range batch.Records {
		r.info.LastSeq++
		rec.Seq = r.info.LastSeq
		rec.Time = instant(rec.Time)
		rec.Data = bytes.Clone(rec.Data)
		r.records = append(r.records, rec)
		r.info.UpdateTime = rec.Time
	}
	owner, tenant, parent := r.info.Head.Owner, r.info.Head.Tenant, r.info.Head.Parent
	if last == 0 {
		owner, tenant, parent = batch.Head.Owner, batch.Head.Tenant, batch.Head.Parent
	}
	if len(r.info.Head.Decisions) > 0 || len(batch.Head.Decisions) > 0 {
		s.changes++
		r.changed = s.changes
	}
	r.info.Head = runstore.Head{
		Unfinished: batch.Head.Unfinished, Ended: batch.Head.Ended, Summary: bytes.Clone(batch.Head.Summary), Owner: owner, Tenant: tenant, Parent: parent,
	}
	r.info.Head.SetDecisions(bytes.Clone(batch.Head.Decisions), batch.Head.DecideByNanos())
	if more := batch.Spent; !more.IsZero() {
		by := spender{more.Day, owner, tenant}
		s.spent[by] = more.Add(s.spent[by])
	}
	for _, c := range batch.Contents {
		if r.contents == nil {
			r.contents = make(map[string][]byte)
		}
		if r.contents[c.SHA256] == nil {
			r.contents[c.SHA256] = bytes.Clone(c.Data)
		}
	}
	s.addMessages(batch.Messages)
	for _, v := range batch.Verdicts {
		s.verdicts++
		s.given = append(s.given, runstore.Verdict{Principal: v.Principal, Data: bytes.Clone(v.Data), RunID: batch.RunID, Owner: owner, Number: s.verdicts})
	}
	if batch.Snapshot != nil {
		r.renew(batch.Snapshot)
	}
	return nil
}

// renew makes a new list of parts, because callers may still read the old one.
func (r *run) renew(s *runstore.Renewal) {
	parts := slices.Clone(r.kept.Parts[:min(s.Keep, len(r.kept.Parts))])
	for _, part := range s.Parts {
		parts = append(parts, bytes.Clone(part))
	}
	r.kept = runstore.Snapshot{State: bytes.Clone(s.State), Parts: parts}
}

// Delete implements runstore.Store.
func (s *Store) Delete(ctx context.Context, deletion runstore.Deletion) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, known := range deletion.Last {
		r := s.runs[id]
		if r == nil {
			return runstore.NotFound(id)
		}
		if r.info.LastSeq != known {
			return runstore.Moved(id, known, r.info.LastSeq)
		}
	}
	for id, r := range s.runs {
		_, also := deletion.Last[id]
		if _, parent := deletion.Last[r.info.Head.Parent]; parent && !also {
			return runstore.HasSubRun(r.info.Head.Parent, id)
		}
	}
	for id := range deletion.Last {
		s.order[s.runs[id].place], s.gone[id] = nil, true
		delete(s.runs, id)
	}
	s.given = slices.DeleteFunc(s.given, func(v runstore.Verdict) bool { return s.gone[v.RunID] })
	return nil
}

// Verdicts implements runstore.Store.
func (s *Store) Verdicts(ctx context.Context, query runstore.VerdictQuery) (page []runstore.Verdict, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range slices.Backward(s.given) {
		if v.Principal == query.Principal && v.Number < query.Newest() && len(page) < query.PageSize() {
			v.Data = bytes.Clone(v.Data)
			page = append(page, v)
		}
	}
	return page, ctx.Err()
}

// Snapshot implements runstore.Store.
func (s *Store) Snapshot(ctx context.Context, runID string) (runstore.Snapshot, error) {
	if err := ctx.Err(); err != nil {
		return runstore.Snapshot{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.runs[runID]
	if r == nil {
		return runstore.Snapshot{}, runstore.NotFound(runID)
	}
	kept := runstore.Snapshot{State: bytes.Clone(r.kept.State)}
	for _, part := range r.kept.Parts {
		kept.Parts = append(kept.Parts, bytes.Clone(part))
	}
	return kept, nil
}

// Content implements runstore.Store.
func (s *Store) Content(ctx context.Context, runID, sha256 string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.runs[runID]
	if r == nil || r.contents[sha256] == nil {
		return nil, runstore.NoContent(runID, sha256)
	}
	return bytes.Clone(r.contents[sha256]), nil
}

// Read implements runstore.Store.
func (s *Store) Read(ctx context.Context, runID string, after uint64) iter.Seq2[runstore.Record, error] {
	return func(yield func(runstore.Record, error) bool) {
		for {
			page, err := s.page(runID, after)
			if err != nil {
				yield(runstore.Record{}, err)
				return
			}
			if len(page) == 0 {
				return
			}
			for _, rec := range page {
				if err := ctx.Err(); err != nil {
					yield(runstore.Record{}, err)
					return
				}
				rec.Data = bytes.Clone(rec.Data)
				if !yield(rec, nil) {
					return
				}
				after = rec.Seq
			}
		}
	}
}

func (s *Store) page(runID string, after uint64) ([]runstore.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.runs[runID]
	if r == nil {
		return nil, runstore.NotFound(runID)
	}
	return slices.Clip(r.records[min(after, uint64(len(r.records))):]), nil
}

// Get implements runstore.Store.
func (s *Store) Get(ctx context.Context, runID string) (runstore.Run, error) {
	if err := ctx.Err(); err != nil {
		return runstore.Run{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.runs[runID]
	if r == nil {
		return runstore.Run{}, runstore.NotFound(runID)
	}
	return r.snapshot(), nil
}

// List implements runstore.Store.
func (s *Store) List(ctx context.Context, query runstore.Query) ([]runstore.Run, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	next := len(s.order) - 1
	if query.Before != "" {
		r := s.runs[query.Before]
		if r == nil || !query.Selects(&r.info.Head) {
			return nil, runstore.NotFound(query.Before)
		}
		next = r.place - 1
	}
	var page []runstore.Run
	for ; next >= 0 && len(page) < query.PageSize(); next-- {
		if r := s.order[next]; r != nil && (r.info.Head.Unfinished || !query.UnfinishedOnly) && (!r.info.Head.Ended || !query.OpenOnly) && query.Selects(&r.info.Head) {
			page = append(page, r.snapshot())
		}
	}
	return page, nil
}

// Waiting implements runstore.Store.
func (s *Store) Waiting(ctx context.Context, query runstore.WaitingQuery) ([]runstore.Run, runstore.Place, error) {
	if err := ctx.Err(); err != nil {
		return nil, query.After, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	of := runstore.Query{Owner: query.Owner, Tenant: query.Tenant}
	placeOf := func(r *run) runstore.Place {
		return runstore.Place{DecideBy: r.info.Head.DecideByNanos(), Number: int64(r.place) + 1}
	}
	compare := func(a, b runstore.Place) int {
		return cmp.Or(cmp.Compare(a.DecideBy, b.DecideBy), cmp.Compare(a.Number, b.Number))
	}
	var waiting []*run
	for _, r := range s.order {
		if r != nil && len(r.info.Head.Decisions) > 0 && of.Selects(&r.info.Head) && compare(placeOf(r), query.After) > 0 {
			waiting = append(waiting, r)
		}
	}
	slices.SortFunc(waiting, func(a, b *run) int { return compare(placeOf(a), placeOf(b)) })
	var page []runstore.Run
	last := query.After
	for _, r := range waiting[:min(len(waiting), query.PageSize())] {
		page, last = append(page, r.snapshot()), placeOf(r)
	}
	return page, last, nil
}

// Changed implements runstore.Store.
func (s *Store) Changed(ctx context.Context, query runstore.ChangedQuery) ([]runstore.Run, int64, error) {
	if err := ctx.Err(); err != nil {
		return nil, query.After, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case query.After == runstore.Now:
		return nil, s.changes, nil
	case query.After > s.changes:
		return nil, query.After, runstore.NotReached(query.After)
	}
	of := runstore.Query{Owner: query.Owner, Tenant: query.Tenant}
	var changed []*run
	for _, r := range s.order {
		if r != nil && r.changed > query.After && of.Selects(&r.info.Head) {
			changed = append(changed, r)
		}
	}
	slices.SortFunc(changed, func(a, b *run) int { return cmp.Compare(a.changed, b.changed) })
	var page []runstore.Run
	for _, r := range changed[:min(len(changed), query.PageSize())] {
		page = append(page, r.snapshot())
	}
	if len(page) < len(changed) {
		return page, changed[len(page)-1].changed, nil
	}
	return page, s.changes, nil
}

func (r *run) snapshot() runstore.Run {
	info := r.info
	info.Head.Summary, info.Head.Decisions = bytes.Clone(info.Head.Summary), bytes.Clone(info.Head.Decisions)
	return info
}

// instant returns t as every store returns it: in UTC and without a monotonic reading.
func instant(t time.Time) time.Time { return time.Unix(0, t.UnixNano()).UTC() }
