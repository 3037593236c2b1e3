package held

import (
	"crypto/rand"
	"strings"
	"sync"
	"time"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/tool"
)

// Store keeps decisions. Use New to create a Store. All methods are safe for concurrent use, and
// none but Decide and Extend blocks.
type Store struct {
	deciding sync.Mutex    // held by Decide and Extend, while they must not hold mu
	ending   chan struct{} // see Ending
	once     sync.Once

	place string // see NewAt

	mu     sync.Mutex
	origin string // names the counter of changes: another store has another one
	// changes counts the changes of decisions. Each decision has the number of its last one, so that a
	// watcher needs to know only a number. forgot is that of the newest change of a decision that is
	// gone.
	changes, forgot int64
	news            chan struct{} // closed with the next change
	byName          map[string]*entry
	byKey           map[Key]*entry // those that wait, and those whose verdict counts for the next call
	inside          map[string]int // how many calls of a principal wait
}

type entry struct {
	Decision
	key       Key
	requestID string        // of the verdict
	used      bool          // a call took the approval
	changed   int64         // Store.changes at the last change
	made      chan struct{} // closed with the verdict
}

// New returns an empty store.
func New() *Store { return NewAt("") }

// NewAt is New for one of several toolhosts: names of decisions end with its place, so that another
// one can say where a decision is. An empty place is none.
func NewAt(place string) *Store {
	if place != "" {
		place = "-" + place
	}
	return &Store{place: place, ending: make(chan struct{}), news: make(chan struct{}), origin: rand.Text()[:10], byName: map[string]*entry{}, byKey: map[Key]*entry{}, inside: map[string]int{}}
}

// End tells all that wait to leave: the program stops. It may be called more than once.
func (s *Store) End() { s.once.Do(func() { close(s.ending) }) }

// Ending returns a channel that End closes.
func (s *Store) Ending() <-chan struct{} { return s.ending }

// Hold returns the decision about a call: the one that waits or was made for the key, or a new one.
// made is closed when a person decides. An error says why the call cannot be held; the decisions of
// the principal, or of all, have too many or too large calls.
func (s *Store) Hold(key Key, call Call) (_ Decision, made <-chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.sweepLocked(now)
	if e := s.byKey[key]; e != nil {
		return e.Decision, e.made, nil
	}
	if err := s.makeRoomLocked(&call); err != nil {
		return Decision{}, nil, err
	}
	now = now.UTC().Round(0)
	e := &entry{key: key, made: make(chan struct{}), Decision: Decision{
		Name: prefix + strings.ToLower(rand.Text()[:16]) + s.place, Call: call, Requested: now, Expires: now.Add(MaxWait), State: Waiting,
	}}
	e.Etag = etagOf(&e.Decision)
	s.byName[e.Name], s.byKey[key] = e, e
	s.changeLocked(e)
	return e.Decision, e.made, nil
}

// Enter lets a call of a principal wait, until leave is called. ok is false if too many wait.
func (s *Store) Enter(principal string) (leave func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inside[principal] >= maxOfPrincipal {
		return nil, false
	}
	s.inside[principal]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.inside[principal]--; s.inside[principal] == 0 {
			delete(s.inside, principal)
		}
	}, true
}

// share is a part of the store: that of a principal, of a tenant, or the whole.
type share struct {
	whose           string
	count, bytes    int
	most, mostBytes int
	spent           *entry // the oldest that no call can use any more; nil: none
	rejected        *entry // the oldest rejection with its arguments; nil: none
}

func (s *share) add(e *entry, over bool) {
	s.count, s.bytes = s.count+1, s.bytes+e.size()
	if over && (s.spent == nil || e.Decided.Before(s.spent.Decided)) {
		s.spent = e
	}
	if e.State == Rejected && e.size() > 0 && (s.rejected == nil || e.Decided.Before(s.rejected.Decided)) {
		s.rejected = e
	}
}

// makeRoomLocked returns an error if there is no room for a call. What no call can use any more
// makes room, and so do the arguments of rejections. A rejection itself does not, so that a caller
// does not ask for the same until a person agrees.
func (s *Store) makeRoomLocked(call *Call) error {
	if call.size() > MaxArguments {
		return tool.Errorf(tool.KindInvalidArgument, "its arguments and its context have more than %d bytes", MaxArguments)
	}
	tenant := identity.TenantOf(call.Principal)
	for {
		shares := []*share{
			{whose: call.Principal, most: maxOfPrincipal, mostBytes: maxBytesOfPrincipal}, {whose: "the tenant " + tenant, most: maxOfTenant, mostBytes: maxBytesOfTenant},
			{whose: "toolhost", most: maxDecisions, mostBytes: maxBytes},
		}
		for _, e := range s.byName {
			over := s.byKey[e.key] != e
			shares[2].add(e, over)
			if identity.TenantOf(e.Principal) == tenant {
				shares[1].add(e, over)
			}
			if e.Principal == call.Principal {
				shares[0].add(e, over)
			}
		}
		enough := true
		for _, of := range shares {
			byCount, byBytes := of.count >= of.most, of.bytes+call.size() > of.mostBytes
			if !byCount && !byBytes {
				continue
			}
			switch {
			case of.spent != nil:
				s.forgetLocked(of.spent)
			case byBytes && of.rejected != nil:
				of.rejected.Arguments, of.rejected.Context = nil, ""
			case byCount:
				return tool.Errorf(tool.KindRateLimited, "%s has as many calls that wait for a person or were just rejected as it may have, %d", of.whose, of.most)
			default:
				return tool.Errorf(tool.KindRateLimited, "the calls of %s that wait for a person have as many bytes as they may have, %d", of.whose, of.mostBytes)
			}
			enough = false
			break
		}
		if enough {
			return nil
		}
	}
}

// sweepLocked ends the wait of decisions that nobody made in time, and forgets verdicts that do not
// count any more.
func (s *Store) sweepLocked(now time.Time) {
	for _, e := range s.byName {
		if e.State == Waiting && !now.Before(e.Expires) {
			e.State, e.Decided = Expired, e.Expires
			close(e.made)
			s.changeLocked(e)
			s.retireLocked(e) // nobody said no: the next call asks again
		}
		if e.State != Waiting && now.Sub(e.Decided) >= Fresh {
			s.retireLocked(e)
			s.forgetLocked(e)
		}
	}
}

// retireLocked makes the next call with the key of a decision ask again.
func (s *Store) retireLocked(e *entry) {
	if s.byKey[e.key] == e {
		delete(s.byKey, e.key)
	}
}

// Get returns a decision, also after it was made.
func (s *Store) Get(name string) (_ Decision, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweepLocked(time.Now())
	e := s.byName[name]
	if e == nil {
		return Decision{}, false
	}
	return e.Decision, true
}

// Waiting returns the decisions that wait and that a function accepts. That which ends first comes
// first. The function must not call the store.
func (s *Store) Waiting(accept func(*Decision) bool) []Decision {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweepLocked(time.Now())
	var all []Decision
	for _, e := range s.byName {
		if e.State == Waiting && accept(&e.Decision) {
			all = append(all, e.Decision)
		}
	}
	inOrder(all)
	return all
}

// Decide makes a decision, and wakes the calls that wait for it. It calls permit with the decision
// as it will be, before it is made; an error keeps it from being made. A repeated request gets the
// decision again. Errors: not_found, invalid_argument; conflict if the decision was made, or its
// etag is another.
func (s *Store) Decide(v Verdict, permit func(Decision) error) (Decision, error) {
	s.deciding.Lock()
	defer s.deciding.Unlock()
	now, repeated, err := s.judge(&v)
	if err != nil || repeated {
		return now, err
	}
	if err := permit(now); err != nil {
		return Decision{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.byName[v.Name]
	if e == nil || e.State != Waiting { // its time ended meanwhile
		return Decision{}, tool.Errorf(tool.KindConflict, "the decision %s ended before the verdict was recorded", v.Name)
	}
	e.Decision, e.requestID = now, v.RequestID
	close(e.made)
	s.changeLocked(e)
	return e.Decision, nil
}

// judge returns a decision as a verdict will make it, or as the same request has made it.
func (s *Store) judge(v *Verdict) (_ Decision, repeated bool, err error) {
	if err := v.check(); err != nil {
		return Decision{}, false, err
	}
	d, ok := s.Get(v.Name)
	if !ok {
		return Decision{}, false, NotFound()
	}
	if d.State != Waiting {
		s.mu.Lock()
		defer s.mu.Unlock()
		e := s.byName[v.Name]
		if e != nil && v.RequestID != "" && e.requestID == v.RequestID && d.By == v.By && d.State == v.state() {
			return d, true, nil
		}
		return Decision{}, false, madeBefore(&d)
	}
	if d.Etag != v.Etag {
		return Decision{}, false, tool.Errorf(tool.KindConflict, "the verdict is not about what %s shows: its etag is another; look at the decision again", v.Name)
	}
	d.State, d.Decided, d.By, d.Groups, d.ByName, d.Text = v.state(), time.Now().UTC().Round(0), v.By, v.Groups, v.ByName, v.Text
	return d, false, nil
}

// NotFound returns the error for a decision that does not exist, or that its caller may not see.
func NotFound() *tool.Error {
	return tool.Errorf(tool.KindNotFound, "toolhost holds no call of this name; `toolhost approvals pending` shows those that wait")
}

// Use takes an approval for a call, and reports whether there was one. Of several calls, one gets
// it.
func (s *Store) Use(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweepLocked(time.Now())
	e := s.byName[name]
	if e == nil || e.State != Approved || e.used {
		return false
	}
	e.used = true
	s.retireLocked(e)
	return true
}

// GiveBack returns an approval that a call took and did not need, because it was not executed. If
// another call asks a person meanwhile, the approval is lost.
func (s *Store) GiveBack(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweepLocked(time.Now())
	if e := s.byName[name]; e != nil && e.used && s.byKey[e.key] == nil {
		e.used, s.byKey[e.key] = false, e
	}
}
