package settle

import (
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
)

const (
	// silentFor is how long a toolhost must not have said that it lives before Seal asks about its
	// calls. It proves nothing, and need not.
	silentFor = 10 * time.Second
	// lookEvery is the pause between two looks.
	lookEvery = time.Second
)

// Seal asks a tool whose check seals what became of a call that another toolhost has, if that
// toolhost is silent. What such a check says is true also if the call goes on there. Seal returns
// the call if it is not under way there any more, otherwise nil.
func (s *Settler) Seal(there *callstore.Entry) *callstore.Entry {
	t, settles := s.cfg.Tool(there.Tool, there.Plugin)
	if !there.Sealable() || !settles || !t.Spec.Seals || !s.isSilent(there) {
		return nil
	}
	select {
	case <-s.begin(there.Key, true):
	case <-s.cfg.Context.Done():
		return nil
	}
	now, found, err := s.cfg.Calls.Find(s.cfg.Context, there.Key)
	if err != nil || !found || now.Elsewhere != "" {
		return nil
	}
	return &now
}

// isSilent reports whether the toolhost that has a call does not say that it lives. It looks for
// silentFor, and less if the toolhost does, or the call is not under way there any more.
func (s *Settler) isSilent(there *callstore.Entry) bool {
	for end := time.Now().Add(silentFor); ; {
		now, found, err := s.cfg.Calls.Find(s.cfg.Context, there.Key)
		if err != nil || !found || now.Number != there.Number || now.Elsewhere == "" || now.Beat != there.Beat {
			return false
		}
		if time.Now().After(end) {
			return true
		}
		timer := time.NewTimer(lookEvery)
		select {
		case <-timer.C:
		case <-s.cfg.Context.Done():
			timer.Stop()
			return false
		}
	}
}
