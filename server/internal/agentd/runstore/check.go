package runstore

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"time"
)

// Check returns an error if the batch is invalid, whatever the store contains.
func (b *Batch) Check() error {
	if b.RunID == "" {
		return errors.New("appending to a run: the run has no id")
	}
	if len(b.Records) == 0 {
		return fmt.Errorf("appending to run %s: there is nothing to append", b.RunID)
	}
	for i := range b.Records {
		if r := &b.Records[i]; r.Type == "" || !json.Valid(r.Data) {
			return fmt.Errorf("appending to run %s: record %d (%q) needs a type and valid JSON", b.RunID, i+1, r.Type)
		}
	}
	if s := b.Head.Summary; len(s) > 0 && !json.Valid(s) {
		return fmt.Errorf("appending to run %s: the summary is not valid JSON", b.RunID)
	}
	if s := b.Head.Decisions; len(s) > 0 && !json.Valid(s) {
		return fmt.Errorf("appending to run %s: the decisions are not valid JSON", b.RunID)
	}
	if s := b.Snapshot; s != nil && (len(s.State) == 0 || s.Keep < 0) {
		return fmt.Errorf("appending to run %s: a snapshot has a state and keeps 0 parts or more", b.RunID)
	}
	for i := range b.Contents {
		if c := &b.Contents[i]; !digestPattern.MatchString(c.SHA256) || len(c.Data) == 0 {
			return fmt.Errorf("appending to run %s: content %d (%q) needs a digest in lower-case hexadecimal and data", b.RunID, i+1, c.SHA256)
		}
	}
	for i := range b.Verdicts {
		if v := &b.Verdicts[i]; v.Principal == "" || !json.Valid(v.Data) {
			return fmt.Errorf("appending to run %s: verdict %d (%q) needs a principal and valid JSON", b.RunID, i+1, v.Principal)
		}
	}
	return b.checkMessages()
}

var digestPattern = regexp.MustCompile(`^[0-9a-f]{64}$`)

// PageSize returns how many runs the query requests, between 1 and MaxPage.
func (q *Query) PageSize() int {
	if q.Limit <= 0 || q.Limit > MaxPage {
		return MaxPage
	}
	return q.Limit
}

// PageSize returns how many runs the query requests, between 1 and MaxPage.
func (q *WaitingQuery) PageSize() int { return (&Query{Limit: q.Limit}).PageSize() }

// PageSize returns how many runs the query requests, between 1 and MaxPage.
func (q *ChangedQuery) PageSize() int { return (&Query{Limit: q.Limit}).PageSize() }

// PageSize returns how many verdicts the query requests, between 1 and MaxPage.
func (q *VerdictQuery) PageSize() int { return (&Query{Limit: q.Limit}).PageSize() }

// Newest returns the number below which those of all selected verdicts are.
func (q *VerdictQuery) Newest() int64 {
	if q.Before == 0 {
		return math.MaxInt64
	}
	return q.Before
}

// DecideByNanos returns DecideBy as a Place has it.
func (h *Head) DecideByNanos() int64 {
	if h.DecideBy.IsZero() {
		return math.MaxInt64
	}
	return h.DecideBy.UnixNano()
}

// SetDecisions sets Decisions, if there are some, and DecideBy from the nanoseconds of a Place.
func (h *Head) SetDecisions(decisions []byte, by int64) {
	if len(decisions) == 0 {
		return
	}
	h.Decisions = decisions
	if by != math.MaxInt64 {
		h.DecideBy = time.Unix(0, by).UTC()
	}
}

// Selects reports whether the query selects runs with the owner, the tenant and the parent of a
// head.
func (q *Query) Selects(h *Head) bool {
	return (q.Owner == "" || q.Owner == h.Owner) && (q.Tenant == "" || q.Tenant == h.Tenant) && (q.Parent == "" || q.Parent == h.Parent)
}

// Conflict returns the ErrConflict of a batch for a run whose last record is at last. last is 0 if
// there is no such run.
func Conflict(b *Batch, last uint64) error {
	switch {
	case last == 0:
		return fmt.Errorf("appending to run %s after %d: %w: the run does not exist", b.RunID, b.After, ErrConflict)
	case b.After == 0:
		return fmt.Errorf("creating run %s: %w: the run exists", b.RunID, ErrConflict)
	default:
		return fmt.Errorf("appending to run %s after %d: %w: its last record is %d", b.RunID, b.After, ErrConflict, last)
	}
}

// Moved returns the ErrConflict of a deletion for a run whose last record is at last.
func Moved(runID string, known, last uint64) error {
	return fmt.Errorf("deleting run %s after %d: %w: its last record is %d", runID, known, ErrConflict, last)
}

// HasSubRun returns the ErrConflict of a deletion for a run with a sub-run that stays.
func HasSubRun(runID, subRun string) error {
	return fmt.Errorf("deleting run %s: %w: its sub-run %s is not among the runs to delete", runID, ErrConflict, subRun)
}

// Deleted returns the ErrDeleted of a run.
func Deleted(runID string) error { return fmt.Errorf("creating run %s: %w", runID, ErrDeleted) }

// NotFound returns the ErrNotFound of a run.
func NotFound(runID string) error { return fmt.Errorf("run %q: %w", runID, ErrNotFound) }

// NoContent returns the ErrNotFound of a content.
func NoContent(runID, sha256 string) error {
	return fmt.Errorf("run %q has no content %s: %w", runID, sha256, ErrNotFound)
}

// NotReached returns the ErrPosition of a position.
func NotReached(position int64) error { return fmt.Errorf("position %d: %w", position, ErrPosition) }
