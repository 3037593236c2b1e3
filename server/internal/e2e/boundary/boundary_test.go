package boundary_test

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
)

// story is everything that the tests compare between two runs that have ended.
type story struct {
	end      *agentdv1.RunFinished
	results  map[string]*agentdv1.CallResult
	asked    map[int]string
	executed map[string]int
}

// chosen is the number of boundaries that a test without -boundary.all selects for each of the
// victims.
const chosen = 3

// The test kills agentd, toolhost or both before and after each append to the journal. Each run
// ends like the undisturbed run.
func TestEveryBoundary(t *testing.T) { everyBoundary(t, newWorld, *all) }

// everyBoundary is TestEveryBoundary in worlds of start. Unless wholly, it kills at some places.
func everyBoundary(t *testing.T, start func(*testing.T) *world, wholly bool) {
	t.Helper()
	w := start(t)
	whole, boundaries := undisturbed(t, w)
	if whole.end.GetStopReason() != agentdv1.StopReason_STOP_REASON_END_TURN || whole.end.GetTurns() < 20 || len(boundaries) < 50 {
		t.Fatalf("the undisturbed run has %d boundaries and ended with %v", len(boundaries), whole.end)
	}
	shown := base64.StdEncoding.EncodeToString(picture())
	for turn, body := range whole.asked {
		if !strings.Contains(body, shown) {
			t.Fatalf("the request of turn %d does not have the picture", turn)
		}
	}
	random := rand.New(rand.NewPCG(*seed, 0))
	crew := newCrew(whole)
	total := 0
	for _, v := range []victims{{agentd: true}, {toolhost: true}, {agentd: true, toolhost: true}} {
		for _, at := range choose(random, boundaries, wholly) {
			total++
			ask := total%2 == 0
			crew.run(t, v.String()+"_"+at.String(), func(t *testing.T) { crew.disturb(t, v.world(t, w, start), v, at, ask) })
		}
		if w.database != nil && !wholly {
			continue // it takes a minute
		}
		often := rand.New(rand.NewPCG(*seed, uint64(total)))
		crew.run(t, v.String()+"_often", func(t *testing.T) { crew.disturbOften(t, v.world(t, w, start), v, often) })
	}
	crew.group.Wait()
	t.Logf("-boundary.seed=%d: %d of %d boundaries, %d unknown outcomes", *seed, total, 6*len(boundaries), crew.unknown.Load())
	if wholly && crew.unknown.Load() == 0 {
		t.Error("no call with side effects was under way when toolhost was killed: that was not tested")
	}
}

// crew runs subtests in parallel, at most -boundary.workers at a time. The subtests spend most of
// their time waiting.
type crew struct {
	whole   story // the undisturbed run, which all others are compared with
	group   sync.WaitGroup
	seats   chan struct{}
	unknown atomic.Int64 // unknown outcomes in all runs
}

func newCrew(whole story) *crew { return &crew{whole: whole, seats: make(chan struct{}, *workers)} }

// run waits until fewer than -boundary.workers subtests run, and starts the subtest in a goroutine.
func (c *crew) run(t *testing.T, name string, test func(t *testing.T)) {
	t.Helper()
	c.seats <- struct{}{}
	c.group.Go(func() { // ends with the subtest
		defer func() { <-c.seats }()
		t.Run(name, test)
	})
}

// choose returns the places in the run at which the test kills its victims: all, or a few that are
// spread over the run.
func choose(random *rand.Rand, boundaries []uint64, wholly bool) (places []place) {
	if wholly {
		for _, seq := range boundaries {
			places = append(places, place{seq, "before"}, place{seq, "after"})
		}
		return places
	}
	stride := len(boundaries) / chosen
	for i := range chosen {
		seq := boundaries[i*stride+random.IntN(stride)]
		places = append(places, place{seq, []string{"before", "after"}[random.IntN(2)]})
	}
	return places
}

// undisturbed returns the story of a run in which no process is killed, and the number of the last
// record of each append.
func undisturbed(t *testing.T, w *world) (story, []uint64) {
	t.Helper()
	return undisturbedStory(t, w, newBrain(t), func(*person) {})
}

// undisturbedStory is undisturbed for a model and for a person that change has changed.
func undisturbedStory(t *testing.T, w *world, b *brain, change func(*person)) (story, []uint64) {
	t.Helper()
	d := newAgentd(t, w, b, folder(t, w), place{side: "none"})
	var boundaries []uint64
	told := make(chan struct{})
	go func() { // ends with agentd, which the test kills below
		defer close(told)
		for lines := bufio.NewScanner(d.signals); lines.Scan(); {
			if seq, err := strconv.ParseUint(strings.TrimPrefix(lines.Text(), "appended "), 10, 64); err == nil {
				boundaries = append(boundaries, seq)
			}
		}
	}()
	p := newPerson(t, d.addr, "whole", false)
	change(p)
	s, err := live(t, w, b, p)
	d.life.kill()
	<-told
	if err != nil {
		t.Fatal(err)
	}
	return s, boundaries
}

// live starts a run, follows it to its end and returns its story.
func live(t *testing.T, w *world, b *brain, p *person) (story, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := p.start(ctx); err != nil {
		return story{}, fmt.Errorf("starting the run: %w", err)
	}
	if err := p.follow(ctx); err != nil {
		return story{}, fmt.Errorf("following the run: %w", err)
	}
	if err := p.remember(ctx); err != nil {
		return story{}, fmt.Errorf("reading the run again: %w", err)
	}
	return story{p.end(), p.results(), b.seen(), w.executed(t, p.session)}, nil
}

// disturb kills the victims at one place of a run and compares the story with the undisturbed one.
func (c *crew) disturb(t *testing.T, w *world, v victims, at place, askOutcome bool) {
	t.Helper()
	b := newBrain(t)
	d := newAgentd(t, w, b, folder(t, w), at)
	first := d.life
	ended := d.disaster(v)
	s, err := live(t, w, b, newPerson(t, d.addr, v.String()+"-"+at.String(), askOutcome))
	if err != nil {
		first.kill() // strike waits for a halt; without one, only this kill ends it
	}
	if err := errors.Join(err, <-ended); err != nil {
		t.Fatal(err)
	}
	if v.toolhost {
		c.unknown.Add(int64(compareLoosely(t, c.whole, s, askOutcome)))
		return
	}
	compare(t, c.whole, s)
}

// folder returns a new folder for an agentd.
func folder(t *testing.T, w *world) string {
	t.Helper()
	dir, err := os.MkdirTemp(w.home, "a")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
