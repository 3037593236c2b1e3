package mcpauth

import (
	"sync"
	"time"

	"github.com/toolhost/toolhost/tool"
)

const (
	// attemptTime is how long a person has to agree.
	attemptTime = 10 * time.Minute
	// maxAttempts and maxOwnAttempts bound the logins in progress, of all principals and of one.
	maxAttempts    = 1000
	maxOwnAttempts = 8
)

// attempts has the logins in progress, within the bounds. All methods are safe for concurrent use.
type attempts struct {
	now func() time.Time

	mu   sync.Mutex
	byID map[string]*attempt
}

// room returns an error if a principal has too many logins in progress, or all principals have.
func (a *attempts) room(principal string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.roomLocked(principal)
}

// roomLocked is room for a caller that holds a.mu. It removes the logins that have expired.
func (a *attempts) roomLocked(principal string) error {
	now, own := a.now(), 0
	for key, other := range a.byID {
		switch {
		case now.After(other.expires):
			delete(a.byID, key)
		case other.request.Principal == principal:
			own++
		}
	}
	if own >= maxOwnAttempts || len(a.byID) >= maxAttempts {
		return tool.Errorf(tool.KindRateLimited, "too many logins are in progress; finish one, or wait ten minutes")
	}
	return nil
}

// add keeps a login in progress, within the bounds.
func (a *attempts) add(id string, t *attempt) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.roomLocked(t.request.Principal); err != nil {
		return err
	}
	a.byID[id] = t
	return nil
}

// take removes a login in progress of an account and returns it.
func (a *attempts) take(id string, who account) (*attempt, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	t := a.byID[id]
	if t == nil || t.account() != who || a.now().After(t.expires) {
		return nil, ErrUnknownLogin
	}
	delete(a.byID, id)
	return t, nil
}
