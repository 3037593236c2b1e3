package fleet_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/target"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/fleet"
)

// script is what one node says: numbers, then an error, or nothing more until its time is over.
type script struct {
	numbers []int
	err     error
	hangs   bool
}

// merge reads the streams of the nodes a, b, c. It returns what was found as NODE and NUMBER.
func merge(t *testing.T, wait time.Duration, scripts map[string]script, found func(string) error) ([]fleet.Answer[int], error) {
	t.Helper()
	return fleet.Merge(t.Context(), three(t), wait, func(ctx context.Context, c *client.Client) iter.Seq2[int, error] {
		s := scripts[c.Addr()[strings.LastIndex(c.Addr(), "/")+1:]]
		return func(yield func(int, error) bool) {
			for _, n := range s.numbers {
				if !yield(n, nil) {
					return
				}
			}
			if s.hangs {
				<-ctx.Done()
				s.err = ctx.Err()
			}
			if s.err != nil {
				yield(0, s.err)
			}
		}
	}, cmp.Compare[int], func(node target.Node, n int) error { return found(fmt.Sprint(node.Name, n)) })
}

// Values come in the order of all nodes. Each node keeps its own order, also one that is not
// sorted. One that hangs or fails is left out from then on, and what it said before stays.
func TestMerge(t *testing.T) {
	for name, test := range map[string]struct {
		a, b, c script
		want    string
		states  []fleet.State
	}{
		"in order":        {script{numbers: []int{1, 4, 7}}, script{numbers: []int{2, 4}}, script{}, "a1 b2 a4 b4 a7", []fleet.State{fleet.Answered, fleet.Answered, fleet.Answered}},
		"a clock back":    {script{numbers: []int{5, 3, 8}}, script{numbers: []int{4, 6}}, script{}, "b4 a5 a3 b6 a8", []fleet.State{fleet.Answered, fleet.Answered, fleet.Answered}},
		"one fails":       {script{numbers: []int{1}, err: errors.New("broken")}, script{numbers: []int{0, 2, 3}}, script{}, "b0 a1 b2 b3", []fleet.State{fleet.Failed, fleet.Answered, fleet.Answered}},
		"one hangs":       {script{numbers: []int{1}, hangs: true}, script{numbers: []int{0, 2, 3}}, script{}, "b0 a1 b2 b3", []fleet.State{fleet.NoAnswer, fleet.Answered, fleet.Answered}},
		"two say nothing": {script{hangs: true}, script{hangs: true}, script{numbers: []int{1, 2}}, "c1 c2", []fleet.State{fleet.NoAnswer, fleet.NoAnswer, fleet.Answered}},
	} {
		t.Run(name, func(t *testing.T) {
			wait := time.Minute
			if test.a.hangs {
				wait = 50 * time.Millisecond
			}
			var all []string
			answers, err := merge(t, wait, map[string]script{"a": test.a, "b": test.b, "c": test.c}, func(s string) error {
				all = append(all, s)
				return nil
			})
			if got := strings.Join(all, " "); err != nil || got != test.want {
				t.Errorf("%q, %v", got, err)
			}
			var states []fleet.State
			for i, a := range answers {
				states = append(states, a.State)
				if n := len([]script{test.a, test.b, test.c}[i].numbers); a.Value != n {
					t.Errorf("%s has %d values, want %d", a.Node.Name, a.Value, n)
				}
			}
			if !slices.Equal(states, test.states) {
				t.Errorf("%v", states)
			}
		})
	}
}

// If nobody reads any more, all streams end, also endless ones.
func TestMergeEnds(t *testing.T) {
	full := errors.New("the disk is full")
	endless := slices.Repeat([]int{1}, 1000)
	n := 0
	_, err := merge(t, time.Minute, map[string]script{"a": {numbers: endless, hangs: true}, "b": {numbers: endless}, "c": {numbers: endless}}, func(string) error {
		if n++; n == 10 {
			return full
		}
		return nil
	})
	if !errors.Is(err, full) || n != 10 {
		t.Errorf("%v after %d values", err, n)
	}
}
