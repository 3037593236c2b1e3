package subreaper

import (
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// processes is a process table whose listings can miss what the kernel's would.
type processes struct {
	running  map[int]bool // false: a zombie
	listings [][]int      // what the next listings return; then all of running
	after    func()       // called after each listing
}

func (p *processes) hunt(stays ...int) *hunt {
	goes := func(pid int) bool { return !slices.Contains(stays, pid) }
	return &hunt{
		kills: goes, awaits: goes,
		list: func() []int {
			defer p.after()
			if len(p.listings) == 0 {
				return slices.Sorted(maps.Keys(p.running))
			}
			next := p.listings[0]
			p.listings = p.listings[1:]
			return next
		},
		alive:     func(pid int) bool { return p.running[pid] },
		childless: func() bool { return len(p.running) == 0 },
		kill:      func(pid int) { delete(p.running, pid) },
	}
}

// The served program, 10, ends between the reading of this process's children and that of its own:
// the listing has neither 11 nor 12, which were its children.
func TestAParentThatEndsDuringTheListing(t *testing.T) {
	for _, stays := range [][]int{nil, {20}} {
		synctest.Test(t, func(t *testing.T) {
			p := &processes{running: map[int]bool{10: true, 11: true, 12: true}}
			listed := []int{10}
			for _, pid := range stays {
				p.running[pid] = true
				listed = append(listed, pid)
			}
			p.listings = [][]int{listed}
			p.after = func() {
				if p.running[10] {
					p.running[10] = false
				} else {
					delete(p.running, 10) // reaped
				}
			}
			began := time.Now()
			p.hunt(stays...).run()
			if left := slices.Sorted(maps.Keys(p.running)); !slices.Equal(left, stays) {
				t.Errorf("processes %v are left, want %v", left, stays)
			}
			if took := time.Since(began); took >= patience {
				t.Errorf("the hunt took %v", took)
			}
		})
	}
}

// A zombie that its parent never reaps, below a process that stays, does not hold up the hunt.
func TestAZombieThatStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &processes{running: map[int]bool{20: true, 21: false}, after: func() {}}
		began := time.Now()
		p.hunt(20).run()
		if took := time.Since(began); took >= patience {
			t.Errorf("the hunt took %v", took)
		}
	})
}

// A start that is in progress adds a child after the third listing, and the fourth misses it. The
// third began before the end of the start, so that the two do not count as equal listings.
func TestAHuntWaitsForAStartInProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &processes{running: map[int]bool{}, listings: make([][]int, 4)}
		h := p.hunt()
		started := make(chan struct{})
		h.ready = started
		listings := 0
		p.after = func() {
			if listings++; listings == 3 {
				p.running[30] = true
				close(started)
			}
		}
		h.run()
		if len(p.running) > 0 {
			t.Errorf("processes %v are left", p.running)
		}
	})
}

// A process that cannot be killed does not keep the member forever.
func TestAHuntEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &processes{running: map[int]bool{40: true}, after: func() {}}
		h := p.hunt()
		kills := 0
		h.kill = func(int) { kills++ }
		began := time.Now()
		h.run()
		if took := time.Since(began); took < patience || took > 2*patience {
			t.Errorf("the hunt took %v, want about %v", took, patience)
		}
		if kills < 10 {
			t.Errorf("the hunt tried to kill the process %d times", kills)
		}
	})
}
