package notify_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/notify"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/memory"
	"github.com/toolhost/toolhost/tool"
)

// target takes messages, unless fail says otherwise. After its context it hangs no longer.
type target struct {
	fail func(n int, c *notify.Content) error // of the nth attempt, from 1; nil: none fails
	hang bool

	mu       sync.Mutex
	attempts int
	got      []*notify.Content
}

func (t *target) Send(ctx context.Context, c *notify.Content) error {
	t.mu.Lock()
	t.attempts++
	n := t.attempts
	t.mu.Unlock()
	if t.hang {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		<-ctx.Done()
		return ctx.Err()
	}
	if t.fail != nil {
		if err := t.fail(n, c); err != nil {
			return err
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.got = append(t.got, c)
	return nil
}

// tried returns how many attempts the target had.
func (t *target) tried() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.attempts
}

// longest is the id of the run. No id is longer: a message shows a part of it, and leads to the
// run.
var longest = strings.Repeat("r", loop.MaxRunID)

// runs is one run with a pending decision.
type runs struct {
	mu      sync.Mutex
	decided bool
	gone    bool
	began   time.Time
	expiry  time.Duration
	extends *loop.DecisionExtended // the third event; nil: there is none
}

// change changes the run while it may be read.
func (r *runs) change(change func(*runs)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(r)
}

func (r *runs) request() loop.DecisionRequested {
	return loop.DecisionRequested{ID: "d1", Kind: loop.DecideApproval, Tool: "shell", Rule: "careful", Expiry: r.expiry}
}

func (r *runs) Event(_ context.Context, _ string, seq uint64) (*loop.RunStarted, loop.Event, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gone {
		return nil, loop.Event{}, tool.Errorf(tool.KindNotFound, "there is no such run")
	}
	if seq == 3 {
		return &loop.RunStarted{RunID: "r", Agent: "writer", Principal: "ada"}, loop.Event{Seq: 3, Time: r.began.Add(time.Minute), Payload: r.extends}, nil
	}
	p := r.request()
	return &loop.RunStarted{RunID: "r", Agent: "writer", Principal: "ada"}, loop.Event{Seq: 2, Time: r.began, Payload: &p}, nil
}

func (r *runs) Decision(context.Context, string, string) (agent.Decision, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.request()
	d := agent.Decision{Waits: !r.decided, Pending: loop.Pending{DecisionRequested: p, Arguments: `{"command":"rm"}`, Requested: r.began, Expires: r.began.Add(p.Expiry)}}
	if r.extends != nil {
		d.Expires = r.extends.Expires
	}
	return d, nil
}

// everything is a route of all that concerns decisions.
func everything(to ...string) notify.Route {
	return notify.Route{On: []notify.Kind{notify.Waiting, notify.Ending}, To: to, Remind: time.Hour}
}

// scene is a store with the messages of one decision, and what sends them.
type scene struct {
	store    *memory.Store
	runs     *runs
	settings notify.Settings
	log      bytes.Buffer // of one notifier, which has ended
	notifier *notify.Notifier
}

// set begins a scene in which a decision waits.
func set(t *testing.T, settings notify.Settings, expiry time.Duration) *scene {
	t.Helper()
	s := &scene{store: memory.New(), runs: &runs{began: time.Now().UTC(), expiry: expiry}, settings: settings}
	p := s.runs.request()
	batch := runstore.Batch{RunID: longest, Records: []runstore.Record{{Type: "x", Data: []byte("{}"), Time: time.Now()}}}
	batch.Messages = settings.Routes.Messages(stateOf(t, loop.RunStarted{RunID: longest, Agent: "writer"}), []loop.Event{{Seq: 2, Time: s.runs.began, Payload: &p}})
	if err := s.store.Append(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *scene) start() {
	s.notifier = notify.New(s.store, s.settings, slog.New(slog.NewTextHandler(&s.log, nil)))
	s.notifier.Start(s.runs)
}

// kinds returns the kinds of the messages that a target has, with the time since the decision.
func (s *scene) kinds(t *target) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var list []string
	for _, c := range t.got {
		list = append(list, fmt.Sprint(c.Kind))
	}
	return strings.Join(list, " ")
}

// A target that hangs, and one that refuses, delay nothing, and get an attempt for each pause. The
// log says what failed, and until when it is tried.
func TestADeadTargetDelaysNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		good, slow := &target{}, &target{hang: true}
		dead := &target{fail: func(int, *notify.Content) error { return errors.New("connection refused") }}
		s := set(t, notify.Settings{Routes: notify.Routes{everything("good", "slow", "dead")}, Targets: map[string]notify.Target{"good": good, "slow": slow, "dead": dead}}, 10*time.Hour)
		s.start()
		synctest.Wait()
		if got := s.kinds(good); got != "waiting" {
			t.Errorf("at once, the good target has %q", got)
		}
		time.Sleep(11 * time.Hour)
		s.notifier.Close()
		if got := s.kinds(good); got != "waiting reminder ending" {
			t.Errorf("the good target has %q", got)
		}
		if n := dead.tried(); len(slow.got)+len(dead.got) > 0 || n < 12 || n > 100 {
			t.Errorf("the dead target had %d attempts", n)
		}
		want := "until=" + s.runs.began.Add(72*time.Hour).Format(time.RFC3339)
		if log := s.log.String(); !strings.Contains(log, `error="connection refused"`) || !strings.Contains(log, want) || !strings.Contains(log, "target=dead") {
			t.Errorf("the log has no %s:\n%s", want, log)
		}
		time.Sleep(80 * time.Hour)
		s.log.Reset()
		s.start()
		synctest.Wait()
		s.notifier.Close()
		if log := s.log.String(); !strings.Contains(log, "messages were dropped") || !strings.Contains(log, "messages=6") {
			t.Errorf("after three days:\n%s", log)
		}
	})
}

// A decision that waits for four days is told again at its end: only what is due grows old.
func TestLongDecisions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ops := &target{}
		s := set(t, notify.Settings{Routes: notify.Routes{everything("ops")}, Targets: map[string]notify.Target{"ops": ops}}, 4*24*time.Hour)
		s.start()
		time.Sleep(4 * 24 * time.Hour)
		s.notifier.Close()
		if got := s.kinds(ops); got != "waiting reminder ending" {
			t.Errorf("the target has %q", got)
		}
	})
}

// A decision with more time is told again before its new end, and not before the first one.
func TestExtendedDecisions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ops := &target{}
		s := set(t, notify.Settings{Routes: notify.Routes{everything("ops")}, Targets: map[string]notify.Target{"ops": ops}}, 10*time.Hour)
		requested, extended := s.runs.request(), loop.DecisionExtended{ID: "d1", Expires: s.runs.began.Add(30 * time.Hour), Principal: "bob"}
		state := stateOf(t, loop.RunStarted{RunID: longest, Agent: "writer"})
		waits(t, state, s.runs.began, &requested)
		e := loop.Event{Seq: 3, Time: s.runs.began.Add(time.Minute), Payload: &extended}
		if err := s.store.Append(t.Context(), runstore.Batch{RunID: longest, After: 1, Records: []runstore.Record{{Type: "x", Data: []byte("{}"), Time: time.Now()}}, Messages: s.settings.Routes.Messages(state, []loop.Event{e})}); err != nil {
			t.Fatal(err)
		}
		s.runs.extends = &extended
		s.start()
		time.Sleep(29*time.Hour - time.Minute) // virtual
		if got := s.kinds(ops); got != "waiting reminder" {
			t.Errorf("before the new end, the target has %q", got)
		}
		time.Sleep(2 * time.Minute) // virtual
		s.notifier.Close()
		if got := s.kinds(ops); got != "waiting reminder ending" {
			t.Errorf("the target has %q", got)
		}
		if c := ops.got[2]; c.Kind != notify.Ending || !c.Expires.Equal(extended.Expires) || c.Tool != "shell" || c.Rule != "careful" || c.Left > time.Hour || c.Decision != "d1" {
			t.Errorf("the message is %+v", c)
		}
	})
}

// After the decision there are no messages about it, nor about a run that is gone or a journal that
// was restored.
func TestNothingIsToldTooLate(t *testing.T) {
	for name, change := range map[string]func(*runs){
		"decided":  func(r *runs) { r.decided = true },
		"deleted":  func(r *runs) { r.gone = true },
		"restored": func(r *runs) { r.began = r.began.Add(time.Second) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ops := &target{}
				s := set(t, notify.Settings{Routes: notify.Routes{everything("ops")}, Targets: map[string]notify.Target{"ops": ops}}, 10*time.Hour)
				s.start()
				synctest.Wait()
				s.runs.change(change)
				time.Sleep(11 * time.Hour)
				s.notifier.Close()
				if got := s.kinds(ops); got != "waiting" {
					t.Errorf("the target has %q", got)
				}
				if n, err := s.store.Trim(t.Context(), time.Now().Add(time.Hour), 0); n != 0 || err != nil {
					t.Errorf("%d messages are left, %v", n, err)
				}
			})
		})
	}
}

// A message that was taken when the process ended, or was never tried, is sent by the next one.
func TestARestartLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ops := &target{hang: true}
		s := set(t, notify.Settings{Routes: notify.Routes{everything("ops")}, Targets: map[string]notify.Target{"ops": ops}}, 10*time.Hour)
		s.start()
		synctest.Wait() // it hangs
		s.notifier.Close()
		if m, ok, err := s.store.Take(t.Context(), "ops", time.Now(), time.Now().Add(time.Minute)); !ok || err != nil || m.Attempts != 2 {
			t.Fatalf("after the interruption: %+v, %v, %v", m, ok, err)
		} // and here a process dies
		ops.hang = false
		s.start()
		synctest.Wait()
		if n := ops.tried(); n != 1 {
			t.Errorf("a message that another process has taken is sent: %d attempts", n)
		}
		time.Sleep(2 * time.Minute)
		s.notifier.Close()
		if got := s.kinds(ops); got != "waiting" {
			t.Errorf("the target has %q", got)
		}
	})
}

// A message that a target never takes does not keep back the others for long.
func TestAPoisonedMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late := map[notify.Kind]time.Duration{}
		ops := &target{fail: func(_ int, c *notify.Content) error {
			if c.Kind == notify.Waiting {
				return errors.New("400")
			}
			late[c.Kind] = time.Since(c.Time) - map[notify.Kind]time.Duration{notify.Reminder: time.Hour, notify.Ending: 9 * time.Hour}[c.Kind]
			return nil
		}}
		s := set(t, notify.Settings{Routes: notify.Routes{everything("ops")}, Targets: map[string]notify.Target{"ops": ops}}, 10*time.Hour)
		s.start()
		time.Sleep(10 * time.Hour)
		s.notifier.Close()
		if got := s.kinds(ops); got != "reminder ending" || late[notify.Reminder] > 2*time.Minute || late[notify.Ending] > 2*time.Minute {
			t.Errorf("the target has %q, late by %v", got, late)
		}
	})
}

// A reload changes the targets and the routes.
func TestSettingsAreReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before, after := &target{hang: true}, &target{}
		s := set(t, notify.Settings{Routes: notify.Routes{everything("ops")}, Targets: map[string]notify.Target{"ops": before}}, 10*time.Hour)
		s.start()
		defer s.notifier.Close()
		synctest.Wait()
		s.notifier.Set(notify.Settings{Routes: notify.Routes{{On: []notify.Kind{notify.Waiting}, To: []string{"ops"}}}, Targets: map[string]notify.Target{"ops": after}})
		synctest.Wait()
		if got := s.kinds(after); got != "waiting" {
			t.Errorf("the new target has %q", got)
		}
		others := everything("ops")
		others.Tenants = []string{"blue"}
		s.notifier.Set(notify.Settings{Routes: notify.Routes{others}, Targets: map[string]notify.Target{"ops": after}})
		time.Sleep(9 * time.Hour) // the reminder and the end of the decision of the tenant default are due
		synctest.Wait()
		if got := s.kinds(after); got != "waiting" {
			t.Errorf("the target that is for another tenant now has %q", got)
		}
		s.notifier.Set(notify.Settings{Targets: map[string]notify.Target{"ops": after}})
		if m := s.notifier.Messages(stateOf(t, loop.RunStarted{RunID: "r"}), []loop.Event{{Seq: 3, Payload: &loop.BudgetWarning{}}}); m != nil {
			t.Errorf("without routes there are the messages %+v", m)
		}
	})
}

// Arguments are in a message only if a route for the target says so.
func TestArgumentsAreForTheRoute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all, few := &target{}, &target{}
		full := everything("all")
		full.Arguments, full.Rules = true, []string{"careful"}
		s := set(t, notify.Settings{Routes: notify.Routes{everything("all", "few"), full}, Targets: map[string]notify.Target{"all": all, "few": few}, Pages: "https://agents.example/"}, 10*time.Hour)
		s.start()
		synctest.Wait()
		s.notifier.Close()
		if all.got[0].Arguments != `{"command":"rm"}` || few.got[0].Arguments != "" {
			t.Errorf("the targets have %+v and %+v", all.got, few.got)
		}
		want := notify.Content{
			ID: few.got[0].ID, Kind: notify.Waiting, Time: s.runs.began, Tenant: "default", Run: longest[:100] + " …", Decision: "d1", Agent: "writer", For: "ada", Asks: loop.DecideApproval, Tool: "shell", Rule: "careful",
			Expires: s.runs.began.Add(10 * time.Hour), Left: 10 * time.Hour, Link: "https://agents.example/decisions/" + longest + "/d1", Command: "agentd inbox " + longest + "/d1",
		}
		if *few.got[0] != want {
			t.Errorf("the message is %+v, want %+v", *few.got[0], want)
		}
	})
}

// Close leaves no connection to a target open.
func TestCloseEndsConnections(t *testing.T) {
	closed := make(chan struct{}, 10)
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			closed <- struct{}{}
		}
	}
	server.Start()
	defer server.Close()
	s := set(t, notify.Settings{Routes: notify.Routes{everything("ops")}, Targets: map[string]notify.Target{"ops": notify.Slack(notify.HTTP{URL: server.URL, Private: true})}}, 10*time.Hour)
	log := &bytes.Buffer{}
	logged := make(chan struct{}, 100)
	n := notify.New(s.store, s.settings, slog.New(slog.NewTextHandler(writer(func(p []byte) (int, error) { logged <- struct{}{}; return log.Write(p) }), nil)))
	n.Start(s.runs)
	<-logged // the target has answered
	n.Close()
	<-closed
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }
