package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/internal/wire/filterjson"
	"github.com/toolhost/toolhost/server/internal/audit"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore/memory"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// payments is a tool with side effects that can settle its calls. A call waits until the test lets
// it finish or its process ends.
type payments struct {
	spec    tool.Spec
	entered chan struct{} // one for each execution
	finish  atomic.Bool   // calls return
	made    atomic.Int32  // executions
	asked   atomic.Int32

	mu     sync.Mutex
	settle func(ctx context.Context, c tool.Call) (tool.Settlement, error)
	args   string // of the last request to settle
}

func newPayments() *payments {
	return &payments{
		spec: tool.Spec{
			Name: "pay", Description: "Pays.", Settles: true, InputSchema: []byte(`{"type":"object"}`), Timeout: time.Minute,
		},
		entered: make(chan struct{}, 100),
	}
}

func (p *payments) says(settle func(ctx context.Context, c tool.Call) (tool.Settlement, error)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.settle = settle
}

func (p *payments) saysAlways(s tool.Settlement) {
	p.says(func(context.Context, tool.Call) (tool.Settlement, error) { return s, nil })
}

func (p *payments) tools() []hosttest.Tool {
	return []hosttest.Tool{{
		Spec: p.spec,
		Run: func(ctx context.Context, _ tool.Call, _ func(tool.Event)) (tool.Result, error) {
			p.made.Add(1)
			p.entered <- struct{}{}
			if p.finish.Load() {
				return tool.TextResult("paid now"), nil
			}
			<-ctx.Done()
			return tool.Result{}, ctx.Err()
		},
		Settle: func(ctx context.Context, c tool.Call) (tool.Settlement, error) {
			p.asked.Add(1)
			p.mu.Lock()
			settle := p.settle
			p.args = string(c.Arguments)
			p.mu.Unlock()
			return settle(ctx, c)
		},
	}}
}

func (p *payments) want(t *testing.T, made, asked int32) {
	t.Helper()
	if p.made.Load() != made || p.asked.Load() != asked {
		t.Errorf("the tool was executed %d times and asked %d times, want %d and %d", p.made.Load(), p.asked.Load(), made, asked)
	}
}

func payment() tool.Call {
	c := call("pay", `{"to":"bob"}`)
	c.ID, c.Principal, c.Session = "p1", "uid:7", "s"
	return c
}

var paymentKey = tool.CallKey{Principal: "uid:7", Session: "s", ID: "p1"}

func openMemory(t *testing.T) *memory.Store {
	t.Helper()
	s, err := memory.New(memory.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// lose makes a call of which the process ends, the nth.
func (p *payments) lose(t *testing.T, r *rig, n int, c tool.Call) {
	t.Helper()
	synctest.Wait() // the host has looked for the calls of earlier hosts, and would ask about this one too
	if got := explode(t, r, p.entered, n, c, tool.Exit{Code: 2}); endKind(got) != tool.KindOutcomeUnknown {
		t.Fatalf("the call ended with %+v", got)
	}
}

// A lost call says how to learn its outcome, if its tool can be asked.
func TestALostCallSaysHowItIsSettled(t *testing.T) {
	const advice = "repeat the call with the same id"
	for name, test := range map[string]struct {
		change func(p *payments, c *tool.Call, cfg *host.Config)
		want   bool
	}{
		"a tool with a check": {func(*payments, *tool.Call, *host.Config) {}, true},
		"without a check":     {func(p *payments, _ *tool.Call, _ *host.Config) { p.spec.Settles = false }, false},
		"without an id":       {func(_ *payments, c *tool.Call, _ *host.Config) { c.ID = "" }, false},
		"without a ledger":    {func(_ *payments, _ *tool.Call, cfg *host.Config) { cfg.Calls = nil }, false},
		"with large arguments": {func(_ *payments, c *tool.Call, _ *host.Config) {
			c.Arguments = []byte(`{"to":"` + strings.Repeat("b", callstore.MaxArguments) + `"}`)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, c := newPayments(), payment()
				config := host.Config{Calls: openMemory(t)}
				test.change(p, &c, &config)
				r := newRig(t, p.tools(), func(cfg *host.Config) { cfg.Calls = config.Calls })
				got := explode(t, r, p.entered, 0, c, tool.Exit{Code: 2})
				if endKind(got) != tool.KindOutcomeUnknown || strings.Contains(got.Err.Message, advice) != test.want {
					t.Errorf("the call ended with %+v, %v", got, got.Err)
				}
			})
		})
	}
}

func watched(t *testing.T, r *rig, key tool.CallKey) tool.Outcome {
	t.Helper()
	for ev, err := range r.WatchCall(t.Context(), key, 0) {
		if err != nil {
			t.Fatalf("watching: %v", err)
		}
		if ev.Ended != nil {
			return *ev.Ended
		}
	}
	t.Fatal("the events ended without an outcome")
	return tool.Outcome{}
}

// record returns the call as operators see it.
func record(t *testing.T, r *rig) tool.CallRecord {
	t.Helper()
	page, err := r.Calls(t.Context(), tool.CallQuery{CallID: "p1"})
	if err != nil || len(page.Calls) != 1 {
		t.Fatalf("the calls are %+v, %v", page.Calls, err)
	}
	return page.Calls[0]
}

func textSettlement(v tool.Verdict, text string) tool.Settlement {
	said := tool.Settlement{Verdict: v, Reason: "the book says so"}
	if text != "" {
		result := tool.TextResult(text)
		said.Result = &result
	}
	return said
}

// Whoever asks first for a call with an unknown outcome makes toolhost ask its tool. A call that
// happened is never executed again, one that did not happen is executed once more, and of one that
// the tool does not know callers learn what it said.
func TestSettledCalls(t *testing.T) {
	for name, test := range map[string]struct {
		said          tool.Settlement
		watched, then func(t *testing.T, got tool.Outcome)
		made, asked   int32 // in the end, with a watch or a start before the repeats
		askedRepeated int32 // without
	}{
		"happened": {
			said:    textSettlement(tool.VerdictHappened, "paid before"),
			watched: wantText("paid before", tool.VerdictHappened), then: wantText("paid before", tool.VerdictHappened),
			made: 1, asked: 1, askedRepeated: 1,
		},
		"happened without a result": {
			said:    textSettlement(tool.VerdictHappened, ""),
			watched: wantText("its own result is lost", tool.VerdictHappened), then: wantText("the book says so", tool.VerdictHappened),
			made: 1, asked: 1, askedRepeated: 1,
		},
		"did not happen": {
			said:    textSettlement(tool.VerdictDidNotHappen, ""),
			watched: wantKind(tool.KindUnavailable, "repeat it"), then: wantText("paid now", tool.VerdictDidNotHappen),
			made: 2, asked: 1, askedRepeated: 1,
		},
		"unknown": {
			said:    textSettlement(tool.VerdictUnknown, ""),
			watched: wantKind(tool.KindOutcomeUnknown, "the book says so"), then: wantKind(tool.KindOutcomeUnknown, "the book says so"),
			made: 1, asked: 3, askedRepeated: 2,
		},
	} {
		t.Run(name+"/repeat", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, store := newPayments(), openMemory(t)
				p.saysAlways(test.said)
				r := newRig(t, p.tools(), func(c *host.Config) { c.Calls = store })
				p.lose(t, r, 0, payment())
				p.finish.Store(true)
				for range 2 {
					test.then(t, outcome(t, r, payment()))
				}
				p.want(t, test.made, test.askedRepeated)
				wantSettled(t, record(t, r), test.said)
				if p.args != `{"to":"bob"}` {
					t.Errorf("the tool was asked about the arguments %s", p.args)
				}
			})
		})
		t.Run(name+"/watch", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, store := newPayments(), openMemory(t)
				p.saysAlways(test.said)
				r := newRig(t, p.tools(), func(c *host.Config) { c.Calls = store })
				p.lose(t, r, 0, payment())
				p.finish.Store(true)
				test.watched(t, watched(t, r, paymentKey))
				for range 2 {
					test.then(t, outcome(t, r, payment()))
				}
				p.want(t, test.made, test.asked)
			})
		})
		t.Run(name+"/start", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, store := newPayments(), openMemory(t)
				p.saysAlways(test.said)
				first := newRig(t, p.tools(), func(c *host.Config) { c.Calls = store })
				e, err := first.Open(t.Context(), payment(), true)
				if err != nil {
					t.Fatal(err)
				}
				<-p.entered
				later := store.Reopen() // as if toolhost had died
				first.Close()
				e.Close()
				p.finish.Store(true)
				r := newRig(t, p.tools(), func(c *host.Config) { c.Calls = later })
				synctest.Wait()
				p.want(t, 1, 1)
				wantSettled(t, record(t, r), test.said)
				for range 2 {
					test.then(t, outcome(t, r, payment()))
				}
				p.want(t, test.made, test.asked)
			})
		})
	}
}

func wantText(text string, verdict tool.Verdict) func(*testing.T, tool.Outcome) {
	return func(t *testing.T, got tool.Outcome) {
		t.Helper()
		if got.Err != nil || !strings.Contains(got.Result.Text(), text) || got.Settled == nil || got.Settled.Verdict != verdict || got.CallID != "p1" {
			t.Errorf("the call ended with %+v, settled %+v, want %q and %s", got, got.Settled, text, verdict)
		}
	}
}

func wantKind(kind tool.Kind, text string) func(*testing.T, tool.Outcome) {
	return func(t *testing.T, got tool.Outcome) {
		t.Helper()
		if endKind(got) != kind || !strings.Contains(got.Err.Message, text) || got.CallID != "p1" {
			t.Errorf("the call ended with %+v, %v, want %s: %q", got, got.Err, kind, text)
		}
	}
}

func wantSettled(t *testing.T, got tool.CallRecord, want tool.Settlement) {
	t.Helper()
	want.Result = nil
	if got.Settled == nil || *got.Settled != want {
		t.Errorf("the record says %+v, want %+v", got.Settled, want)
	}
}

// A lost call is asked about once at a time, whoever waits for it, and executed once more at most.
func TestOneRequestToSettleACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, store, answer := newPayments(), openMemory(t), make(chan struct{})
		p.says(func(context.Context, tool.Call) (tool.Settlement, error) {
			<-answer
			return textSettlement(tool.VerdictDidNotHappen, ""), nil
		})
		r := newRig(t, p.tools(), func(c *host.Config) { c.Calls = store })
		p.lose(t, r, 0, payment())
		p.finish.Store(true)
		var group sync.WaitGroup
		for range 10 {
			group.Go(func() { wantText("paid now", tool.VerdictDidNotHappen)(t, outcome(t, r, payment())) })
		}
		group.Go(func() {
			if got := watched(t, r, paymentKey); endKind(got) == tool.KindOutcomeUnknown {
				t.Errorf("the watcher got %v", got.Err)
			}
		})
		synctest.Wait()
		p.want(t, 1, 1)
		close(answer)
		group.Wait()
		p.want(t, 2, 1)
	})
}

// A caller that leaves while the tool is asked does not stop the call: it asked for its execution.
func TestACallerLeavesWhileItsCallIsSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, store, answer := newPayments(), openMemory(t), make(chan struct{})
		p.says(func(context.Context, tool.Call) (tool.Settlement, error) {
			<-answer
			return textSettlement(tool.VerdictDidNotHappen, ""), nil
		})
		r := newRig(t, p.tools(), func(c *host.Config) { c.Calls = store })
		p.lose(t, r, 0, payment())
		p.finish.Store(true)
		left, err := r.Open(t.Context(), payment(), true)
		if err != nil {
			t.Fatal(err)
		}
		cancelled, err := r.Open(t.Context(), payment(), true)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		left.Close()
		cancelled.Cancel("enough")
		wantKind(tool.KindOutcomeUnknown, "")(t, end(t, cancelled))
		cancelled.Close()
		close(answer)
		synctest.Wait()
		p.want(t, 2, 1)
		wantText("paid now", tool.VerdictDidNotHappen)(t, outcome(t, r, payment()))
	})
}

// A tool is never asked about a call that runs, has an outcome or belongs to another principal.
func TestOnlyLostCallsAreSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, store := newPayments(), openMemory(t)
		p.saysAlways(textSettlement(tool.VerdictDidNotHappen, ""))
		r := newRig(t, p.tools(), func(c *host.Config) { c.Calls = store })
		running, err := r.Open(t.Context(), payment(), true)
		if err != nil {
			t.Fatal(err)
		}
		defer running.Close()
		<-p.entered
		again, err := r.Open(t.Context(), payment(), true)
		if err != nil {
			t.Fatal(err)
		}
		defer again.Close()
		ctx, stop := context.WithCancel(t.Context())
		go func() { // ends with ctx
			for range r.WatchCall(ctx, paymentKey, 0) {
			}
		}()
		synctest.Wait()
		p.want(t, 1, 0)
		stop()
		running.Cancel("enough")
		if got := end(t, running); endKind(got) != tool.KindCancelled {
			t.Fatalf("the call ended with %+v", got)
		}
		wantKind(tool.KindCancelled, "")(t, outcome(t, r, payment()))
		lost := payment()
		lost.ID = "p2"
		p.lose(t, r, 0, lost)
		p.finish.Store(true)
		lost.Principal = "uid:8"
		if got := outcome(t, r, lost); got.Err != nil || got.Settled != nil {
			t.Errorf("the call of another principal ended with %+v", got)
		}
		lost.Principal, lost.Session = "uid:7", "another"
		if got := outcome(t, r, lost); got.Err != nil || got.Settled != nil {
			t.Errorf("the call of another session ended with %+v", got)
		}
		for _, err := range r.WatchCall(t.Context(), tool.CallKey{Principal: "uid:9", Session: "s", ID: "p2"}, 0) {
			if tool.KindOf(err) != tool.KindNotFound {
				t.Errorf("another principal watches: %v", err)
			}
		}
		p.want(t, 4, 0)
	})
}

// If the second execution is lost too, the tool is asked again, and its answer counts again.
func TestASettledCallIsLostAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, store := newPayments(), openMemory(t)
		p.saysAlways(textSettlement(tool.VerdictDidNotHappen, ""))
		r := newRig(t, p.tools(), func(c *host.Config) { c.Calls = store })
		p.lose(t, r, 0, payment())
		p.lose(t, r, 1, payment()) // asked in between, on the second process
		p.want(t, 2, 1)
		if got := record(t, r); got.Settled != nil && got.Settled.Verdict != tool.VerdictUnknown {
			t.Errorf("after the second crash the record says %+v", got)
		}
		p.saysAlways(textSettlement(tool.VerdictHappened, "paid the second time"))
		wantText("paid the second time", tool.VerdictHappened)(t, outcome(t, r, payment()))
		p.want(t, 2, 2)
	})
}

// A tool that lies about nothing but gives no valid answer in time changes nothing.
func TestInvalidSettlements(t *testing.T) {
	for name, test := range map[string]struct {
		settle func(ctx context.Context, r *rig) (tool.Settlement, error)
		want   string
	}{
		"it hangs until it is told to stop": {func(ctx context.Context, _ *rig) (tool.Settlement, error) {
			<-ctx.Done()
			return tool.Settlement{}, ctx.Err()
		}, "it did not answer within 10s"},
		"it answers late": {func(ctx context.Context, _ *rig) (tool.Settlement, error) {
			<-ctx.Done()
			time.Sleep(time.Millisecond) // an answer at the very end of the time counts
			return textSettlement(tool.VerdictDidNotHappen, ""), nil
		}, "it did not answer within 10s"},
		"it does not stop": {func(ctx context.Context, r *rig) (tool.Settlement, error) {
			<-r.process(1).Done()
			return textSettlement(tool.VerdictDidNotHappen, ""), nil
		}, "it did not answer within 10s"},
		"its process ends": {func(ctx context.Context, r *rig) (tool.Settlement, error) {
			r.process(1).End(tool.Exit{Code: 3})
			<-ctx.Done()
			return tool.Settlement{}, ctx.Err()
		}, "asking it failed"},
		"it fails": {func(context.Context, *rig) (tool.Settlement, error) {
			return tool.Settlement{}, errors.New("no book\nhere")
		}, "asking it failed: no book here"},
		"it talks nonsense": {func(context.Context, *rig) (tool.Settlement, error) {
			return tool.Settlement{Verdict: "perhaps"}, nil
		}, "it gave no reason"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, store := newPayments(), openMemory(t)
				r := newRig(t, p.tools(), func(c *host.Config) { c.Calls = store })
				p.says(func(ctx context.Context, _ tool.Call) (tool.Settlement, error) { return test.settle(ctx, r) })
				p.lose(t, r, 0, payment())
				p.finish.Store(true)
				began := time.Now()
				wantKind(tool.KindOutcomeUnknown, test.want)(t, outcome(t, r, payment()))
				if took := time.Since(began); took > 10*time.Second {
					t.Errorf("the caller waited for %v", took)
				}
				time.Sleep(time.Minute)
				p.want(t, 1, 1)
				p.saysAlways(textSettlement(tool.VerdictHappened, "paid before"))
				wantText("paid before", tool.VerdictHappened)(t, outcome(t, r, payment()))
			})
		})
	}
}

// A result of a settled call that does not fit the output schema is left out: the call happened,
// and each repeat of its id gets what is known.
func TestASettledResultPassesTheSchema(t *testing.T) {
	for name, wrong := range map[string]tool.Result{
		"another type":  {Content: []tool.Content{tool.JSON(json.RawMessage(`{"n":"one"}`))}},
		"text":          tool.TextResult("paid"),
		"nothing of it": {Content: []tool.Content{tool.JSON(json.RawMessage(`{}`))}},
		"another JSON":  {Content: []tool.Content{tool.JSON(json.RawMessage(`[1]`)), tool.JSON(json.RawMessage(`{"n":1}`))}},
	} {
		t.Run(name, func(t *testing.T) { testUnfitSettlement(t, wrong) })
	}
}

func testUnfitSettlement(t *testing.T, wrong tool.Result) {
	synctest.Test(t, func(t *testing.T) {
		p, store := newPayments(), openMemory(t)
		p.spec.OutputSchema = []byte(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)
		p.saysAlways(tool.Settlement{Verdict: tool.VerdictHappened, Result: &wrong})
		r := newRig(t, p.tools(), func(c *host.Config) { c.Calls = store })
		p.lose(t, r, 0, payment())
		for range 2 {
			wantText("its own result is lost", tool.VerdictHappened)(t, outcome(t, r, payment()))
		}
		p.want(t, 1, 1)
	})
}

// The result of a settled call passes the filters. If one fails, the outcome stays unknown, and
// nobody sees the result.
func TestASettledResultPassesTheFilters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, store := newPayments(), openMemory(t)
		p.saysAlways(textSettlement(tool.VerdictHappened, "paid 17 to bob"))
		var broken atomic.Bool
		broken.Store(true)
		filters := map[string]filterFunc{"after_mask": func(context.Context, filterjson.Request) (tool.Result, error) {
			if broken.Load() {
				return tool.Result{}, errors.New("the filter is broken")
			}
			masked := tool.TextResult("masked")
			return filterjson.EncodeAnswer(filterjson.Answer{Result: &masked})
		}}
		r, _ := newFilterRig(t, p.tools(), filters, func(c *host.Config) { c.Calls = store }, host.Filter{Name: "after_mask"})
		e, err := r.Open(t.Context(), payment(), true)
		if err != nil {
			t.Fatal(err)
		}
		<-p.entered
		running, err := r.Instances(t.Context(), hosttest.PluginName)
		if err != nil {
			t.Fatal(err)
		}
		r.process(running[0].PID - firstPID).End(tool.Exit{Code: 2})
		wantKind(tool.KindOutcomeUnknown, "")(t, end(t, e))
		e.Close()
		got := outcome(t, r, payment())
		if wantKind(tool.KindOutcomeUnknown, "its result is withheld")(t, got); got.Err != nil && strings.Contains(got.Err.Message, "17") {
			t.Errorf("the caller sees %v", got.Err)
		}
		broken.Store(false)
		wantText("masked", tool.VerdictHappened)(t, outcome(t, r, payment()))
		p.want(t, 1, 2)
	})
}

// Without the arguments, or if the tool does not settle any more, a call stays unknown, and its
// tool is not asked.
func TestCallsThatCannotBeSettled(t *testing.T) {
	for name, test := range map[string]struct {
		large  bool
		plugin string // that has the tool afterwards; empty: the same
		change func(spec *tool.Spec)
	}{
		"large arguments":          {large: true, change: func(*tool.Spec) {}},
		"another plugin has it":    {plugin: "another", change: func(*tool.Spec) {}},
		"it settles no more":       {change: func(s *tool.Spec) { s.Settles = false }},
		"it has no effects now":    {change: func(s *tool.Spec) { s.ReadOnly = true }},
		"the tool does not exist":  {change: func(s *tool.Spec) { s.Name = "spend" }},
		"another tool of the name": {change: func(s *tool.Spec) { s.Settles, s.Description = false, "Something else." }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, store := newPayments(), openMemory(t)
				p.saysAlways(textSettlement(tool.VerdictDidNotHappen, ""))
				c := payment()
				if test.large {
					c.Arguments = []byte(`{"to":"` + strings.Repeat("b", callstore.MaxArguments) + `"}`)
				}
				first := newRig(t, p.tools(), func(c *host.Config) { c.Calls = store })
				p.lose(t, first, 0, c)
				first.Close()
				test.change(&p.spec)
				r := newRig(t, p.tools(), func(c *host.Config) {
					c.Calls = store.Reopen()
					if test.plugin != "" {
						c.Catalog = openCatalog(t, tool.Description{Name: test.plugin, Version: "1", Description: "Pays, too.", Tools: []tool.Spec{p.spec}})
					}
				})
				synctest.Wait()
				wantKind(tool.KindOutcomeUnknown, "")(t, outcome(t, r, c))
				wantKind(tool.KindOutcomeUnknown, "")(t, watched(t, r, paymentKey))
				p.want(t, 1, 0)
			})
		})
	}
}

// What a tool said takes effect only if the audit log has it, and operators see it.
func TestSettlementsAreAuditedFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, store, file := newPayments(), openMemory(t), filepath.Join(t.TempDir(), "audit.jsonl")
		log, err := audit.Open(audit.Config{File: file})
		if err != nil {
			t.Fatal(err)
		}
		p.saysAlways(textSettlement(tool.VerdictUnknown, ""))
		r := newRig(t, p.tools(), func(c *host.Config) { c.Calls, c.Audit = store, log })
		p.lose(t, r, 0, payment())
		p.finish.Store(true)
		wantKind(tool.KindOutcomeUnknown, "the book says so")(t, outcome(t, r, payment()))
		var lines []string
		query := audit.Query{Kind: audit.OfSettlement, CallID: "p1", Tool: "pay", Principal: "uid:7", Outcome: audit.Outcome(tool.VerdictUnknown)}
		if err := audit.Search(t.Context(), []string{file}, query, func(l audit.Line) error {
			lines = append(lines, string(l.Text))
			return nil
		}); err != nil || len(lines) != 1 || !strings.Contains(lines[0], "the book says so") {
			t.Errorf("the audit log has %v, %v", lines, err)
		}
		var seen []string
		for ev, err := range r.WatchEvents(t.Context(), tool.EventQuery{}) {
			if err != nil {
				t.Fatal(err)
			}
			if ev.Type == "call_settled" {
				seen = append(seen, ev.Reason)
			}
		}
		if len(seen) != 1 || seen[0] != "the call p1 of pay: the tool does not know: the book says so" {
			t.Errorf("the events are %q", seen)
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		for _, said := range []tool.Settlement{textSettlement(tool.VerdictDidNotHappen, ""), textSettlement(tool.VerdictHappened, "paid")} {
			p.saysAlways(said)
			wantKind(tool.KindOutcomeUnknown, "audit log")(t, outcome(t, r, payment()))
		}
		p.want(t, 1, 3)
	})
}

func endKind(o tool.Outcome) tool.Kind {
	if o.Err == nil {
		return ""
	}
	return o.Err.Kind
}
