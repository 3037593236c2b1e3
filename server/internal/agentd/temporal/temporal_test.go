package temporal_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/api/serviceerror"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/internal/testkit/syncbuf"
	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/temporal"
	"github.com/toolhost/toolhost/server/internal/agentd/temporal/temporaltest"
	"github.com/toolhost/toolhost/tool"
)

// worker is an agent that answers as the test wants.
type worker struct {
	mu      sync.Mutex
	free    int
	rests   map[string][]agent.Rest // what Work returns, in order; the last one for ever
	fails   map[string]error
	began   map[string]int // calls of Work
	looks   int
	collect int
	block   chan struct{} // Work waits for it; nil: no
	atWork  int
	freed   chan struct{} // nil: no run waits for a slot
}

func newWorker() *worker {
	return &worker{free: 2, rests: map[string][]agent.Rest{}, fails: map[string]error{}, began: map[string]int{}}
}

func (w *worker) Work(ctx context.Context, runID string) (agent.Rest, error) {
	w.mu.Lock()
	w.began[runID]++
	block := w.block
	w.atWork++
	w.mu.Unlock()
	defer func() { w.mu.Lock(); w.atWork--; w.mu.Unlock() }()
	if block != nil {
		select {
		case <-block:
		case <-ctx.Done():
			return agent.Rest{}, tool.AsError(ctx.Err())
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.fails[runID]; err != nil {
		return agent.Rest{}, err
	}
	list := w.rests[runID]
	if len(list) == 0 {
		return agent.Rest{Ended: true}, nil
	}
	if len(list) > 1 {
		w.rests[runID] = list[1:]
	}
	return list[0], nil
}

func (w *worker) Look(context.Context) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looks++
	return 0, nil
}

func (w *worker) Collect(context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.collect++
	return nil
}

func (w *worker) Slots() (int, <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.free - w.atWork, w.freed
}

func (w *worker) calls(runID string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.began[runID]
}

// drive lets an engine drive a worker until the end of the test, or until stop.
func drive(t *testing.T, s *temporaltest.Service, w *worker, change func(*temporal.Config)) (e *temporal.Engine, stop func()) {
	t.Helper()
	config := temporal.Config{Address: s.Address, Namespace: "default", TaskQueue: "agentd", Log: slog.New(slog.DiscardHandler), Check: 100 * time.Millisecond, Report: func(error) {}}
	if change != nil {
		change(&config)
	}
	e, err := temporal.New(config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	group.Go(func() { e.Drive(ctx, w) })
	stop = sync.OnceFunc(func() {
		cancel()
		group.Wait()
		e.Close()
	})
	t.Cleanup(stop)
	return e, stop
}

func ready(t *testing.T, e *temporal.Engine) {
	t.Helper()
	eventually.Holds(t, "the engine is ready", e.Ready)
}

// gone waits until there is no open workflow.
func gone(t *testing.T, s *temporaltest.Service) {
	t.Helper()
	eventually.Shows(t, "no workflow is open", func() (bool, any) { open := s.Open(); return len(open) == 0, open })
}

// A run that is due is worked on, waits for its time or a request, and its workflow ends with it.
func TestARunToItsEnd(t *testing.T) {
	s, w := temporaltest.Start(t), newWorker()
	w.rests["red/r"] = []agent.Rest{{Next: time.Millisecond, Agent: "helper"}, {WaitsFor: "decisions (approval: 1)", Agent: "helper"}, {Next: time.Hour}, {Ended: true}}
	e, _ := drive(t, s, w, nil)
	ready(t, e)
	e.Due("red/r")
	const id = "agentd/red/r"
	eventually.Shows(t, "the run waits for a person", func() (bool, any) {
		return s.Waits(id) == `"waits for decisions (approval: 1)"`, s.Waits(id)
	})
	for name, want := range map[string]string{"AgentdTenant": `"red"`, "AgentdAgent": `"helper"`, "AgentdState": `"waiting"`} {
		if got := s.Attribute(id, name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	if n := w.calls("red/r"); n != 2 {
		t.Errorf("%d attempts before the request", n)
	}
	e.Due("red/r")
	eventually.Shows(t, "the run waits for a time", func() (bool, any) { return s.Waits(id) == `"waits for a request or a time"`, s.Waits(id) })
	s.Fire(id)
	gone(t, s)
	if n := w.calls("red/r"); n != 4 {
		t.Errorf("%d attempts", n)
	}
	w.rests["red/r"] = []agent.Rest{{Ended: true}}
	e.Due("red/r") // a message continues a run that has ended
	eventually.Holds(t, "another workflow has it", func() bool { return w.calls("red/r") == 5 })
	gone(t, s)
}

// A run that is parked is shown as parked, and not as one that works.
func TestAParkedRun(t *testing.T) {
	s, w := temporaltest.Start(t), newWorker()
	w.rests["r"] = []agent.Rest{{Parked: true}}
	e, _ := drive(t, s, w, nil)
	ready(t, e)
	e.Due("r")
	eventually.Holds(t, "the state is parked", func() bool { return s.Attribute("agentd/r", "AgentdState") == `"parked"` })
}

// Attempts follow on errors, and make no history longer: another agentd may have the run for days.
func TestErrorsAreTriedAgain(t *testing.T) {
	s, w := temporaltest.Start(t), newWorker()
	for id, err := range map[string]error{
		"claimed": tool.Errorf(tool.KindConflict, "the model said secret"), "down": tool.Errorf(tool.KindUnavailable, "the model said secret"),
		"broken": tool.Errorf(tool.KindInternal, "the model said secret"), "none": tool.Errorf(tool.KindNotFound, "the model said secret"),
	} {
		w.fails[id] = err
	}
	e, _ := drive(t, s, w, nil)
	ready(t, e)
	for id := range w.fails {
		e.Due(id)
	}
	for _, id := range []string{"claimed", "down", "broken"} {
		eventually.Holds(t, "there are three attempts", func() bool { return w.calls(id) >= 3 })
	}
	w.mu.Lock()
	clear(w.fails)
	w.mu.Unlock()
	gone(t, s)
	if n := w.calls("none"); n != 1 {
		t.Errorf("%d attempts at a run that does not exist", n)
	}
	for _, h := range s.Closed() {
		if n := len(h.GetEvents()); n > 16 {
			t.Errorf("a history has %d events", n)
		}
		if containsText(h, "secret") {
			t.Error("a history has what a model said")
		}
	}
}

// The worker asks for no task for which its agent has no slot.
func TestSlots(t *testing.T) {
	s, a, b := temporaltest.Start(t), newWorker(), newWorker()
	a.free, b.free = 1, 1
	a.block, b.block = make(chan struct{}), make(chan struct{})
	ea, _ := drive(t, s, a, nil)
	eb, _ := drive(t, s, b, nil)
	ready(t, ea)
	ready(t, eb)
	for _, id := range []string{"1", "2", "3", "4"} {
		ea.Due(id)
	}
	atWork := func(w *worker) int { w.mu.Lock(); defer w.mu.Unlock(); return w.atWork }
	eventually.Holds(t, "both have one run", func() bool { return atWork(a) == 1 && atWork(b) == 1 })
	close(b.block)
	eventually.Holds(t, "b works on the others", func() bool { b.mu.Lock(); defer b.mu.Unlock(); return len(b.began) == 3 })
	if n := atWork(a); n != 1 {
		t.Errorf("a has %d runs", n)
	}
	close(a.block)
	gone(t, s)
}

// An agentd that drains asks for no further task, and another one gets what it gives up.
func TestDrain(t *testing.T) {
	s, a, b := temporaltest.Start(t), newWorker(), newWorker()
	a.free, b.free = 1, 0
	a.block = make(chan struct{})
	ea, stop := drive(t, s, a, nil)
	eb, _ := drive(t, s, b, nil)
	ready(t, ea)
	ready(t, eb)
	ea.Due("r")
	eventually.Holds(t, "a works on the run", func() bool { return a.calls("r") == 1 })
	a.mu.Lock()
	a.free, a.fails["r"] = 0, tool.Errorf(tool.KindUnavailable, "the run was given up")
	a.mu.Unlock()
	close(a.block)
	b.mu.Lock()
	b.free = 2
	b.mu.Unlock()
	eventually.Holds(t, "b works on the run", func() bool { return b.calls("r") == 1 })
	stop()
	if n := a.calls("r"); n != 1 {
		t.Errorf("a began %d times", n)
	}
	gone(t, s)
}

// While the service is not reached, the engine looks each second, and hands nothing over.
// Afterwards it tells what it could not.
func TestWithoutTheService(t *testing.T) {
	s, w := temporaltest.Start(t), newWorker()
	s.SetNamespace(false)
	var reports []error
	var mu sync.Mutex
	e, _ := drive(t, s, w, func(c *temporal.Config) {
		c.Report = func(err error) { mu.Lock(); defer mu.Unlock(); reports = append(reports, err) }
	})
	eventually.Holds(t, "the engine says so", func() bool { mu.Lock(); defer mu.Unlock(); return len(reports) == 1 && reports[0] != nil })
	if e.Ready() {
		t.Error("the engine is ready")
	}
	e.Due("r")
	eventually.Holds(t, "it looks", func() bool { w.mu.Lock(); defer w.mu.Unlock(); return w.looks >= 2 })
	if n := s.Asked(); w.calls("r") > 0 || n > 0 {
		t.Errorf("the service is asked %d times", n)
	}
	s.SetNamespace(true)
	eventually.Holds(t, "the service is told", func() bool { return w.calls("r") == 1 })
	gone(t, s)
}

// While the service is not reached, a run that waits for a slot does not wait for the next second.
func TestASlotForARunThatWaits(t *testing.T) {
	s, w := temporaltest.Start(t), newWorker()
	s.SetNamespace(false)
	w.freed = make(chan struct{})
	drive(t, s, w, nil)
	select {
	case w.freed <- struct{}{}:
	case <-time.After(10 * time.Second):
		t.Fatal("nobody waits for a slot")
	}
	eventually.Holds(t, "it looks", func() bool { w.mu.Lock(); defer w.mu.Unlock(); return w.looks >= 1 })
}

// An agentd that ends does not wait for a service that hangs as long as the SDK would.
func TestTheServiceHangsAtTheEnd(t *testing.T) {
	s, w := temporaltest.Start(t), newWorker()
	e, stop := drive(t, s, w, nil)
	ready(t, e)
	hangs := s.HangShutdown()
	stop()
	if left := <-hangs; left < time.Second {
		t.Errorf("the SDK waits as long as it would, but %v", left)
	}
}

// A namespace that was deleted and made again is used again, without a restart.
func TestALostNamespace(t *testing.T) {
	s, w := temporaltest.Start(t), newWorker()
	e, _ := drive(t, s, w, nil)
	ready(t, e)
	s.SetNamespace(false)
	eventually.Holds(t, "the engine is not ready", func() bool { return !e.Ready() })
	before := s.Refused()
	eventually.Holds(t, "all pollers have asked", func() bool { return s.Refused() > before+20 })
	s.Wipe()
	s.SetNamespace(true)
	ready(t, e)
	e.Due("r")
	eventually.Holds(t, "the run is worked on", func() bool { return w.calls("r") == 1 })
	gone(t, s)
}

// A check that was made before the SDK gave the worker up does not make the engine ready.
func TestAWorkerThatFailsDuringACheck(t *testing.T) {
	var reports []error
	e, err := temporal.New(temporal.Config{Address: "127.0.0.1:1", Log: slog.New(slog.DiscardHandler), Report: func(err error) { reports = append(reports, err) }})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	temporal.Report(e, nil)
	gone := errors.New("the namespace is gone")
	temporal.Fail(e, gone)
	temporal.Report(e, nil)
	if e.Ready() || len(reports) != 2 || reports[0] != nil || reports[1] != gone {
		t.Errorf("ready: %t; reports: %v", e.Ready(), reports)
	}
}

// A namespace without one of the search attributes takes workflows without any.
func TestWithoutSearchAttributes(t *testing.T) {
	for _, missing := range temporaltest.Attributes() {
		t.Run(missing, func(t *testing.T) {
			s, w := temporaltest.Start(t), newWorker()
			s.SetAttributes(slices.DeleteFunc(temporaltest.Attributes(), func(name string) bool { return name == missing })...)
			w.rests["r"] = []agent.Rest{{WaitsFor: "decisions (question: 1)", Agent: "helper"}}
			e, _ := drive(t, s, w, nil)
			ready(t, e)
			e.Due("r")
			eventually.Holds(t, "the run waits", func() bool { return s.Waits("agentd/r") != "" })
			if state := s.Attribute("agentd/r", "AgentdState"); state != "" {
				t.Errorf("the workflow has a state: %s", state)
			}
			w.mu.Lock()
			w.rests["r"] = []agent.Rest{{Ended: true}}
			w.mu.Unlock()
			e.Due("r")
			gone(t, s)
		})
	}
}

// What the service refuses about one run, such as a signal beyond its limit, keeps the engine from
// no other one. The log says it once.
func TestARefusedRun(t *testing.T) {
	s, w := temporaltest.Start(t), newWorker()
	s.Refuse("agentd/full", serviceerror.NewInvalidArgument("exceeded workflow execution limit for signal events"))
	var text syncbuf.Buffer
	reports := make(chan error, 100)
	e, stop := drive(t, s, w, func(c *temporal.Config) {
		c.Log = slog.New(slog.NewTextHandler(&text, nil))
		c.Report = func(err error) { reports <- err }
	})
	ready(t, e)
	for _, id := range []string{"one", "two"} {
		e.Due("full")
		e.Due(id)
		eventually.Holds(t, "the other run is worked on", func() bool { return w.calls(id) == 1 })
		eventually.Holds(t, "nothing is to be told", func() bool { return temporal.Waiting(e) == 0 })
	}
	gone(t, s)
	stop()
	if n := strings.Count(text.String(), "exceeded workflow execution limit"); n != 1 || len(reports) != 1 || !e.Ready() {
		t.Errorf("the log has the refusal %d times, and there are %d reports:\n%s", n, len(reports), &text)
	}
}

// Errors about the service or the namespace concern all runs, and others do not.
func TestUnreached(t *testing.T) {
	for want, errs := range map[bool][]error{
		true: {
			serviceerror.NewUnavailable(""), serviceerror.NewDeadlineExceeded(""), serviceerror.NewResourceExhausted(0, ""), serviceerror.NewPermissionDenied("", ""),
			status.Error(codes.Unauthenticated, ""), fmt.Errorf("asking: %w", context.DeadlineExceeded),
			serviceerror.NewNamespaceNotFound(""), serviceerror.NewNamespaceInvalidState("", 0, nil), serviceerror.NewNamespaceNotActive("", "", ""), // SignalWithStart finds nothing else
		},
		false: {serviceerror.NewInvalidArgument(""), serviceerror.NewInternal(""), errors.New("unknown")},
	} {
		for _, err := range errs {
			if temporal.Unreached(err) != want {
				t.Errorf("%T: want %t", err, want)
			}
		}
	}
}

// While a report is written, runs are noted for the service.
func TestASlowReport(t *testing.T) {
	s, w := temporaltest.Start(t), newWorker()
	reported, release := make(chan error), make(chan struct{})
	e, _ := drive(t, s, w, func(c *temporal.Config) { c.Report = func(err error) { reported <- err; <-release } })
	<-reported
	noted := make(chan struct{})
	go func() { e.Due("r"); close(noted) }() // ends with the report at the latest
	select {
	case <-noted:
	case <-time.After(10 * time.Second):
		t.Error("Due waits for the report")
	}
	close(release)
	eventually.Holds(t, "the run is worked on", func() bool { return w.calls("r") == 1 })
	gone(t, s)
}

// An attempt without heartbeats is followed by another one. What the first one says later does not
// count.
func TestAZombie(t *testing.T) {
	s, a, b := temporaltest.Start(t), newWorker(), newWorker()
	a.free, b.free = 1, 0
	a.block = make(chan struct{})
	ea, _ := drive(t, s, a, nil)
	eb, _ := drive(t, s, b, nil)
	ready(t, ea)
	ready(t, eb)
	b.rests["r"] = []agent.Rest{{WaitsFor: "decisions (question: 1)"}, {Ended: true}}
	ea.Due("r")
	eventually.Holds(t, "a works on the run", func() bool { return a.calls("r") == 1 })
	for w, free := range map[*worker]int{a: 0, b: 2} {
		w.mu.Lock()
		w.free = free
		w.mu.Unlock()
	}
	s.Silence("")
	eventually.Holds(t, "b works on the run, which waits", func() bool { return b.calls("r") == 1 && s.Waits("agentd/r") != "" })
	close(a.block) // and a says that the run has ended
	eventually.Holds(t, "a is done", func() bool { a.mu.Lock(); defer a.mu.Unlock(); return a.atWork == 0 })
	if len(s.Open()) != 1 {
		t.Error("the workflow ended with what the zombie said")
	}
	eb.Due("r")
	gone(t, s)
}

// yields returns a list of runs without an error.
func yields(runs []string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, id := range runs {
			if !yield(id, nil) {
				return
			}
		}
	}
}

// A service that lost its database gets the workflows again, also more than once.
func TestRebuild(t *testing.T) {
	s, w := temporaltest.Start(t), newWorker()
	runs := []string{"a", "b", "c", "red/d"}
	for _, id := range append(runs, "ended") {
		w.rests[id] = []agent.Rest{{WaitsFor: "decisions (question: 1)"}}
	}
	e, _ := drive(t, s, w, nil)
	ready(t, e)
	for _, id := range append(runs, "ended") {
		e.Due(id)
	}
	all := func(n int) {
		t.Helper()
		eventually.Shows(t, "the workflows wait", func() (bool, any) {
			open, waiting := s.Open(), 0
			for _, id := range open {
				if s.Waits(id) != "" {
					waiting++
				}
			}
			return waiting == n && len(open) == n, open
		})
	}
	all(5)
	w.mu.Lock()
	w.rests["ended"] = []agent.Rest{{Ended: true}}
	w.mu.Unlock()
	rebuild := func(wantTold, wantOthers int) {
		t.Helper()
		told, others, err := e.Rebuild(t.Context(), yields(runs))
		if err != nil || told != wantTold || others != wantOthers {
			t.Errorf("told %d and %d, %v; want %d and %d", told, others, err, wantTold, wantOthers)
		}
	}
	rebuild(4, 1)
	all(4)
	s.Wipe()
	for range 2 {
		rebuild(4, 0)
		all(4)
	}
	s.Wipe()
	s.Refuse("agentd/b", serviceerror.NewInvalidArgument("there is something wrong with b"))
	told, others, err := e.Rebuild(t.Context(), yields(runs))
	if told != 3 || others != 0 || err == nil || !strings.Contains(err.Error(), "1 workflows") || !strings.Contains(err.Error(), "wrong with b") {
		t.Errorf("told %d and %d, %v", told, others, err)
	}
	all(3)
	if _, _, err := e.Rebuild(t.Context(), func(yield func(string, error) bool) { yield("", errors.New("the database is gone")) }); err == nil {
		t.Error("a list that fails is no error")
	}
	s.SetNamespace(false)
	if told, _, err := e.Rebuild(t.Context(), yields(runs)); told != 0 || err == nil || strings.Contains(err.Error(), "find by themselves") {
		t.Errorf("without a namespace, told %d, %v", told, err)
	}
}

// What the engine could not tell the service is bounded: looks find the rest.
func TestDueIsBounded(t *testing.T) {
	e, err := temporal.New(temporal.Config{Address: "127.0.0.1:1", Namespace: "default", TaskQueue: "agentd", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for i := range temporal.MaxDue + 10 {
		e.Due(strconv.Itoa(i))
	}
	if n := temporal.Waiting(e); n != temporal.MaxDue {
		t.Errorf("%d runs are in memory", n)
	}
}
