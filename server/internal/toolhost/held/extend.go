package held

import (
	"time"

	"github.com/toolhost/toolhost/tool"
)

// MaxExtended is how long after its request a decision can end at the latest.
const MaxExtended = 7 * 24 * time.Hour

// Extension moves the end of a decision.
type Extension struct {
	Name    string
	Expires time.Time
	By, Via string // as in Verdict
}

// Extend lets a decision wait longer, and returns it. An end that is not later than the present one
// changes nothing. Extend calls permit with the decision as it will be, before it is; an error
// keeps the end where it is. Errors: not_found; conflict if the decision was made or has expired;
// invalid_argument if the end is not possible.
func (s *Store) Extend(x Extension, permit func(Decision) error) (Decision, error) {
	s.deciding.Lock()
	defer s.deciding.Unlock()
	d, ok := s.Get(x.Name)
	at := func(t time.Time) string { return t.UTC().Format(time.RFC3339) }
	last := d.Requested.Add(MaxExtended)
	switch {
	case !ok:
		return Decision{}, NotFound()
	case d.State != Waiting:
		return Decision{}, madeBefore(&d)
	case !x.Expires.After(time.Now()):
		return Decision{}, tool.Errorf(tool.KindInvalidArgument, "the decision cannot end at %s, which is not in the future", at(x.Expires))
	case !x.Expires.After(d.Expires):
		return d, nil
	case x.Expires.After(last):
		return Decision{}, tool.Errorf(tool.KindInvalidArgument, "the decision cannot wait until %s, but at most until %s, 7 days after it was requested", at(x.Expires), at(last))
	}
	d.Expires = x.Expires.UTC().Round(0)
	if err := permit(d); err != nil {
		return Decision{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweepLocked(time.Now())
	e := s.byName[x.Name]
	if e == nil {
		return Decision{}, NotFound()
	}
	if e.State != Waiting { // its time ended meanwhile
		return Decision{}, madeBefore(&e.Decision)
	}
	e.Expires = d.Expires
	s.changeLocked(e)
	return e.Decision, nil
}

func madeBefore(d *Decision) error {
	return tool.Errorf(tool.KindConflict, "the decision about the call was made before: %s", d.Because())
}
