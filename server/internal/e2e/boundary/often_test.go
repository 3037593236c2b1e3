package boundary_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
)

// longestLife returns the maximum number of events between two kills. A test without -boundary.all
// uses a larger number, because every kill costs a start. So does one with a database, where a
// start waits until the claims of the killed agentd are free.
func (w *world) longestLife() int {
	if *all && w.database == nil {
		return 9
	}
	return 40
}

// disturbOften kills the victims again and again during one run, each time after the watcher has
// seen a few more events. It uses the shipped binaries, which do not halt.
func (c *crew) disturbOften(t *testing.T, w *world, v victims, random *rand.Rand) {
	t.Helper()
	b := newBrain(t)
	d := newAgentd(t, w, b, folder(t, w), place{})
	p := newPerson(t, d.addr, v.String()+"-often", false)
	left, kills := 1, 0
	p.seen = func(*agentdv1.RunEvent) error {
		if left--; left > 0 {
			return nil
		}
		left = 1 + random.IntN(w.longestLife())
		kills++
		var err error
		if v.toolhost {
			w.toolhost.kill()
		}
		if v.agentd {
			d.life.kill()
		}
		if v.toolhost {
			err = w.open()
		}
		if v.agentd {
			err = errors.Join(err, d.revive())
		}
		return err
	}
	s, err := live(t, w, b, p)
	if err != nil {
		t.Fatal(err)
	}
	if least := len(p.events) / w.longestLife(); kills < least {
		t.Errorf("killed %d times, want %d", kills, least)
	}
	t.Logf("killed %d times", kills)
	if v.toolhost {
		c.unknown.Add(int64(compareLoosely(t, c.whole, s, false)))
		return
	}
	compare(t, c.whole, s)
}
