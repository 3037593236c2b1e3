package storetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/tool"
)

// Cluster has stores of one ledger for Histories, and makes faults.
type Cluster interface {
	// Node returns a store and the number of its node, from 0 to 63. Several goroutines call it.
	Node(random *rand.Rand) (store callstore.Calls, node int)
	// Fault does something that the ledger must survive. Each node that it makes gone, it reports to
	// gone: with a function that makes it so, and reports whether that is certain.
	Fault(t testing.TB, random *rand.Rand, gone func(node int, do func() (certain bool)))
	// Gone is the error of a Begin at a node that is gone; nil: there is none.
	Gone() error
}

const (
	families = 4  // in one history
	clients  = 6  // that call the ledger at the same time
	attempts = 48 // of each client
	faults   = 12 // while they do
	// maxOpen bounds the operations of a family whose answers are not known. The checker tries all
	// orders of them.
	maxOpen = 7
	// checking bounds the check of one family, which takes milliseconds.
	checking = time.Minute
)

// Histories makes clients call the stores of a cluster at random and at the same time, while there
// are faults, and checks that the ledger is linearizable: each answer is one that a ledger could
// give that executes one operation after the other, each between its call and its answer. The ids
// of the calls begin with name.
//
// The checker is Porcupine, see https://github.com/anishathalye/porcupine.
func Histories(t *testing.T, name string, seed uint64, cluster Cluster) {
	h := &history{cluster: cluster, name: name}
	due := make(chan uint64)
	var group, calling sync.WaitGroup
	group.Go(func() { // ends when the clients have ended
		defer close(due)
		for i := range clients {
			calling.Go(func() { h.call(rand.New(rand.NewPCG(seed, uint64(i))), due) })
		}
		calling.Wait()
	})
	for seed := range due { // in the goroutine of the test, which may fail it
		random := rand.New(rand.NewPCG(seed, 1))
		cluster.Fault(t, random, h.leave)
	}
	group.Wait()
	for f := range families {
		h.check(t, f, seed)
	}
}

// history records what clients do and what they are answered.
type history struct {
	cluster Cluster
	name    string
	clock   atomic.Int64 // of calls and answers; it has no equal times
	done    atomic.Int64 // calls of all clients

	mu  sync.Mutex
	ops [families][]porcupine.Operation
	// open counts the operations whose answers are not known
	open [families]int
}

func (h *history) key(family, which int) callstore.Key {
	return Key(fmt.Sprintf("%s-%d.%d", h.name, family, which))
}

// HistoryMark is in what clients of Histories write, and in no request that only reads.
const HistoryMark = "story"

// text returns a text that no other operation has.
func (h *history) text() string { return fmt.Sprint(HistoryMark, h.clock.Add(1)) }

// acts are what clients do, the more frequent ones more often.
var acts = []act{
	beginning, beginning, beginning, replacing, ending, ending, losing, forgetting, freeing, happening, finding, finding, finding, finding,
}

// call is one client. It asks for a fault now and then.
func (h *history) call(random *rand.Rand, due chan<- uint64) {
	for range attempts {
		if h.done.Add(1)%(clients*attempts/faults) == 0 {
			due <- random.Uint64()
		}
		if family := random.IntN(families); h.mayCall(family) {
			h.callFamily(random, family)
		}
	}
}

// callFamily executes one operation. Its caller leaves now and then, before there is an answer.
func (h *history) callFamily(random *rand.Rand, family int) {
	patience := time.Minute
	if random.IntN(8) == 0 {
		patience = time.Duration(random.IntN(4000)) * time.Microsecond
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	store, node := h.cluster.Node(random)
	s := &step{act: acts[random.IntN(len(acts))], node: node, which: random.IntN(2), tag: h.text()}
	var number int64
	switch s.act {
	case replacing:
		s.which = second
	case freeing, happening: // it settles what it has found
		e, found, err := store.Find(ctx, h.key(family, s.which))
		if err != nil || !found {
			return
		}
		s.tag, number = e.Plugin, e.Number
	}
	h.do(ctx, store, family, s, number)
}

// mayCall reports whether the history of a family may go on.
func (h *history) mayCall(family int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.open[family] < maxOpen
}

// do executes a step and records its answer. number is that of the call that it settles.
func (h *history) do(ctx context.Context, store callstore.Calls, family int, s *step, number int64) {
	key := h.key(family, s.which)
	out := tool.Outcome{Result: tool.TextResult(h.text())}
	var r result
	var err error
	called := h.clock.Add(1)
	switch s.act {
	case beginning, replacing:
		e := Entry(key.ID)
		e.Plugin, e.Arguments, e.EffectKey = s.tag, []byte("{}"), "effect"
		if s.act == replacing {
			s.says = key.ID // in the outcome of the other one
			e.Supersedes = []string{h.key(family, first).ID}
		}
		err = store.BeginWithin(ctx, e, callstore.Quota{})
	case ending, happening:
		s.says = out.Result.Text()
		if s.act == ending {
			err = store.End(ctx, key, out)
		} else {
			err = store.Settle(ctx, key, number, happened, out)
		}
	case losing:
		out = tool.Outcome{Err: tool.Errorf(tool.KindOutcomeUnknown, "lost %s", h.text())}
		s.says = out.Err.Message
		err = store.End(ctx, key, out)
	case forgetting:
		err = store.Forget(ctx, key)
	case freeing:
		said := didNotHappen
		said.Reason = h.text() // a mark
		err = store.Settle(ctx, key, number, said, tool.Outcome{})
	case finding:
		var e callstore.Entry
		var found bool
		if e, found, err = store.Find(ctx, key); err == nil {
			r.found = sightOf(&e, found)
		}
	}
	answered := h.clock.Add(1)
	if errors.Is(err, callstore.ErrClosed) || s.act == finding && err != nil {
		return // nothing was done
	}
	r.known, r.err = h.meaning(err)
	h.record(family, s, &r, called, answered)
}

// meaning returns the error in the form of the model, and whether the operation has an answer.
func (h *history) meaning(err error) (known bool, _ error) {
	if err == nil {
		return true, nil
	}
	if gone := h.cluster.Gone(); gone != nil && errors.Is(err, gone) {
		return true, errGone
	}
	for _, meaning := range []error{callstore.ErrTaken, callstore.ErrSuperseding, callstore.ErrNotBegun, callstore.ErrNotUnknown} {
		if errors.Is(err, meaning) {
			return true, meaning
		}
	}
	return false, nil
}

// sightOf returns what an entry shows of a call. Its times and texts for people do not count.
func sightOf(e *callstore.Entry, found bool) sight {
	if !found {
		return sight{phase: absent}
	}
	s := sight{elsewhere: e.Elsewhere != "", tag: e.Plugin}
	switch {
	case e.State == callstore.StateBegun:
		s.phase = begun
	case e.State == callstore.StateUnknown:
		s.phase = unknown
	case e.State == callstore.StateFree:
		s.phase = free
	case e.Err != nil:
		s.phase, s.says = failed, e.Err.Message
	default:
		s.phase, s.says = ended, "an outcome that the store does not have"
		if e.Outcome != nil {
			s.says = e.Outcome.Result.Text()
		}
	}
	return s
}

// record adds an operation to the history of a family.
func (h *history) record(family int, s *step, r *result, called, answered int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	add := func(s *step, r *result, until int64) {
		h.ops[family] = append(h.ops[family], porcupine.Operation{Input: s, Output: r, Call: called, Return: until})
	}
	begins := s.act == beginning || s.act == replacing
	if r.known {
		add(s, r, answered)
	} else { // it may happen at any time after its call, or never
		add(s, r, math.MaxInt64)
		h.open[family]++
	}
	// An attempt may have been done whose answer was lost. The next one is refused if the call was
	// settled, begun or superseded since, or the node is gone: the ledger has what became of it then.
	if begins && r.err != nil || errors.Is(r.err, callstore.ErrNotBegun) {
		add(s, &result{}, answered)
	}
	// A store undoes a Begin that has failed, at any time.
	if begins && (!r.known || errors.Is(r.err, errGone)) {
		undo := *s
		undo.act = undoing
		add(&undo, &result{}, math.MaxInt64)
	}
}

// leave records for all families that a node is gone.
func (h *history) leave(node int, do func() (certain bool)) {
	called := h.clock.Add(1)
	r := &result{known: do()}
	answered := h.clock.Add(1)
	for family := range families {
		h.record(family, &step{act: leaving, node: node}, r, called, answered)
	}
}

// explain looks for an order of the operations of a family that explains their answers.
func (h *history) explain(family int) porcupine.CheckResult {
	model := porcupine.NondeterministicModel{
		Init: func() []any { return []any{newLedger()} },
		Step: func(state, input, output any) (after []any) {
			before := state.(ledger)
			for _, l := range before.admits(input.(*step), output.(*result)) {
				after = append(after, l)
			}
			return after
		},
	}
	return porcupine.CheckOperationsTimeout(model.ToModel(), h.ops[family], checking)
}

// check checks the history of a family.
func (h *history) check(t *testing.T, family int, seed uint64) {
	t.Helper()
	switch h.explain(family) {
	case porcupine.Ok:
		return
	case porcupine.Unknown:
		t.Errorf("seed %d: the history of family %d of %s takes too long to check (%d operations)", seed, family, h.name, len(h.ops[family]))
		return
	}
	var text strings.Builder
	slices.SortFunc(h.ops[family], func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
	for _, op := range h.ops[family] {
		until := fmt.Sprint(op.Return)
		if op.Return == math.MaxInt64 {
			until = "?"
		}
		fmt.Fprintf(&text, "%6d to %6s  %v: %v\n", op.Call, until, op.Input, op.Output)
	}
	t.Errorf("seed %d: no order of these operations explains their answers:\n%s", seed, &text)
}
