package host_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/question"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// asker is a plugin whose tool, asks, is a function of the test.
type asker struct {
	hosttest.Plugin
	run func(ctx context.Context, call *pluginwire.ServerCall) (tool.Result, error)
}

func (a *asker) Call(ctx context.Context, call *pluginwire.ServerCall) (tool.Result, error) {
	return a.run(ctx, call)
}

// newAskRig returns a host whose plugin may ask everything, and has the tool asks.
func newAskRig(t *testing.T, run func(context.Context, *pluginwire.ServerCall) (tool.Result, error), change func(*host.Config)) *rig {
	t.Helper()
	tools := []hosttest.Tool{{Spec: tool.Spec{Name: "asks", Description: "Asks.", ReadOnly: true, Timeout: 3 * time.Second}}}
	r := newRig(t, tools, func(cfg *host.Config) {
		cfg.Asks = mayAskAll
		if change != nil {
			change(cfg)
		}
	})
	r.launch = func(ctx context.Context, _ *catalog.Plugin, _ string) (host.Process, error) {
		return r.start(ctx, &asker{Plugin: *hosttest.NewPlugin(tools), run: run})
	}
	return r
}

func askCall(id string) tool.Call {
	c := call("asks", `{}`)
	c.ID, c.Answers = id, []tool.QuestionKind{tool.QuestionPerson, tool.QuestionModel}
	return c
}

// nextQuestion reads events up to the next question.
func nextQuestion(t *testing.T, e tool.Execution) *tool.Question {
	t.Helper()
	for {
		ev, err := e.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if ev.Ended != nil {
			t.Fatalf("the call ended: %+v", ev.Ended)
		}
		if ev.Question != nil {
			return ev.Question
		}
	}
}

func openCall(t *testing.T, r *rig, c tool.Call) tool.Execution {
	t.Helper()
	e, err := r.Open(t.Context(), c, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

var yes = tool.Answer{Person: &tool.PersonAnswer{Action: tool.PersonAccept, Content: json.RawMessage(`{"answer":"yes"}`)}}

// person returns a question for a person.
func personQuestion(message string) *tool.Question {
	return &tool.Question{Person: &tool.PersonQuestion{Message: message}}
}

// kindOf returns how a question ended for its tool.
func kindOf(a tool.Answer, err error) string {
	switch {
	case err != nil:
		return string(tool.KindOf(err))
	case a.Err != nil:
		return string(a.Err.Kind)
	case a.Person != nil:
		return string(a.Person.Action)
	default:
		return "model"
	}
}

// While a question is open, the deadline of the call pauses. The time before and after counts.
func TestADeadlinePausesForAnAnswer(t *testing.T) {
	for name, tc := range map[string]struct {
		works time.Duration
		want  tool.Kind
	}{"in time": {2 * time.Second, ""}, "too late": {4 * time.Second, tool.KindTimeout}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newAskRig(t, func(ctx context.Context, c *pluginwire.ServerCall) (tool.Result, error) {
					if _, err := c.Ask(ctx, personQuestion("Go on?")); err != nil {
						return tool.Result{}, err
					}
					select {
					case <-time.After(tc.works):
						return tool.TextResult("done"), nil
					case <-ctx.Done():
						return tool.Result{}, ctx.Err()
					}
				}, nil)
				began := time.Now()
				e := openCall(t, r, askCall("paused"))
				q := nextQuestion(t, e)
				if left := time.Until(q.Expires); left != time.Hour {
					t.Errorf("the question expires in %v, want 1 h", left)
				}
				time.Sleep(40 * time.Minute)
				if err := r.AnswerQuestion(t.Context(), tool.CallKey{ID: "paused"}, q.ID, yes); err != nil {
					t.Fatal(err)
				}
				out := end(t, e)
				if tool.KindOf(endError(out)) != tc.want {
					t.Fatalf("the call ended with %v, want %q", out.Err, tc.want)
				}
				if took, want := time.Since(began), 40*time.Minute+min(tc.works, 3*time.Second); took != want {
					t.Errorf("it took %v, want %v", took, want)
				}
			})
		})
	}
}

func endError(o tool.Outcome) error {
	if o.Err == nil {
		return nil
	}
	return o.Err
}

// A question expires after the time that its tool gives it, and all questions together after the
// operator's bound. The call then goes on.
func TestQuestionsExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		r := newAskRig(t, func(ctx context.Context, c *pluginwire.ServerCall) (tool.Result, error) {
			for _, timeout := range []time.Duration{time.Minute, 0, 0} {
				q := personQuestion("Anyone?")
				q.Person.Timeout = timeout
				began := time.Now()
				answer := kindOf(c.Ask(ctx, q))
				got = append(got, answer+" "+time.Since(began).String())
			}
			return tool.TextResult("done"), nil
		}, func(cfg *host.Config) { cfg.Questions.MaxWait = 10 * time.Minute })
		out := outcome(t, r, askCall("expires"))
		if out.Err != nil {
			t.Fatal(out.Err)
		}
		if joined := strings.Join(got, ", "); joined != "timeout 1m0s, timeout 9m0s, timeout 0s" {
			t.Errorf("the tool got %s", joined)
		}
	})
}

// The operator bounds how many questions a call asks and how large they are. Bad questions get an
// error at once.
func TestBoundsOfQuestions(t *testing.T) {
	model := func(roles ...tool.ModelRole) *tool.Question {
		q := &tool.Question{Model: &tool.ModelQuestion{}}
		for _, role := range roles {
			q.Model.Messages = append(q.Model.Messages, tool.ModelMessage{Role: role, Content: []tool.Content{tool.Text("a")}})
		}
		return q
	}
	schema := func(text string) *tool.Question {
		q := personQuestion("a")
		q.Person.Schema = json.RawMessage(text)
		return q
	}
	empty := model(tool.ModelUser)
	empty.Model.Messages[0].Content = nil
	questions := []struct {
		q    *tool.Question
		want string
	}{
		{personQuestion(""), "invalid_argument"},
		{personQuestion(strings.Repeat("x", 2000)), "invalid_argument"},
		{schema(`{"type":"string"}`), "invalid_argument"},
		{schema(`{"type":"object","properties":7}`), "invalid_argument"},
		{schema(`{"type":"object","$ref":"https://example.com/s"}`), "invalid_argument"},
		{schema(`nonsense`), "invalid_argument"},
		{model(), "invalid_argument"},
		{model(tool.ModelAssistant), "invalid_argument"},
		{model(tool.ModelUser, tool.ModelAssistant), "invalid_argument"},
		{empty, "invalid_argument"},
		{personQuestion("first"), "accept"},
		{personQuestion("second"), "accept"},
		{personQuestion("third"), "rate_limited"},
	}
	r := newAskRig(t, func(ctx context.Context, c *pluginwire.ServerCall) (tool.Result, error) {
		for i, q := range questions {
			if got := kindOf(c.Ask(ctx, q.q)); got != q.want {
				t.Errorf("question %d: got %s, want %s", i, got, q.want)
			}
		}
		return tool.TextResult("done"), nil
	}, func(cfg *host.Config) { cfg.Questions = question.Limits{PerCall: 2, Bytes: 1000} })
	e := openCall(t, r, askCall("bounds"))
	for range 2 {
		if err := r.AnswerQuestion(t.Context(), tool.CallKey{ID: "bounds"}, nextQuestion(t, e).ID, yes); err != nil {
			t.Fatal(err)
		}
	}
	if out := end(t, e); out.Err != nil {
		t.Error(out.Err)
	}
}

// Without the operator's permission, a caller that would answer gets no question, and the plugin
// does not send one.
func TestAskingIsTheOperatorsToGrant(t *testing.T) {
	r := newAskRig(t, func(ctx context.Context, c *pluginwire.ServerCall) (tool.Result, error) {
		if len(c.Start().Answers) > 0 {
			t.Errorf("the plugin may ask %v", c.Start().Answers)
		}
		return tool.TextResult(kindOf(c.Ask(ctx, personQuestion("Which?")))), nil
	}, func(cfg *host.Config) { cfg.Asks = nil })
	if out := outcome(t, r, askCall("none")); out.Result.Text() != string(tool.KindUnsupported) {
		t.Errorf("the tool got %q", out.Result.Text())
	}
}

// A process that ends with an open question leaves the outcome unknown, even if the tool promises
// to have no side effects, and a later host does not execute the call again.
func TestAPluginDiesWithAnOpenQuestion(t *testing.T) {
	file, executed := filepath.Join(t.TempDir(), "calls.db"), 0
	ask := func(ctx context.Context, c *pluginwire.ServerCall) (tool.Result, error) {
		executed++
		answer, err := c.Ask(ctx, personQuestion("Delete it?"))
		return tool.TextResult(kindOf(answer, err)), nil
	}
	for life := range 2 {
		s := openCalls(t, callstore.Config{Path: file})
		r := newAskRig(t, ask, func(cfg *host.Config) { cfg.Calls = s })
		e := openCall(t, r, askCall("dies"))
		if life == 0 {
			q := nextQuestion(t, e)
			r.process(0).End(tool.Exit{Signal: "SIGKILL"})
			defer func() {
				if err := r.AnswerQuestion(t.Context(), tool.CallKey{ID: "dies"}, q.ID, yes); tool.KindOf(err) != tool.KindNotFound {
					t.Errorf("an answer after the end: got %v, want not_found", err)
				}
			}()
		}
		if out := end(t, e); tool.KindOf(endError(out)) != tool.KindOutcomeUnknown {
			t.Errorf("life %d: the call ended with %v, want outcome_unknown", life, out.Err)
		}
		r.Close()
		s.Close()
	}
	if executed != 1 {
		t.Errorf("the call was executed %d times", executed)
	}
}

// While a question is open, the ledger on disk has the call as begun. So a host that starts after a
// crash of this one answers outcome_unknown and does not execute it.
func TestTheLedgerHasACallThatAsks(t *testing.T) {
	s := openCalls(t, callstore.Config{Path: filepath.Join(t.TempDir(), "calls.db")})
	r := newAskRig(t, func(ctx context.Context, c *pluginwire.ServerCall) (tool.Result, error) {
		answer, err := c.Ask(ctx, personQuestion("Delete it?"))
		return tool.TextResult(kindOf(answer, err)), err
	}, func(cfg *host.Config) { cfg.Calls = s })
	e := openCall(t, r, askCall("open"))
	q := nextQuestion(t, e)
	for _, want := range []callstore.State{callstore.StateBegun, callstore.StateEnded} {
		entry, found, err := s.Find(t.Context(), callstore.Key{ID: "open"})
		if err != nil || !found || entry.State != want {
			t.Fatalf("the ledger has %+v (found %v, %v), want %v", entry, found, err, want)
		}
		if want == callstore.StateEnded {
			break
		}
		if err := r.AnswerQuestion(t.Context(), tool.CallKey{ID: "open"}, q.ID, yes); err != nil {
			t.Fatal(err)
		}
		if out := end(t, e); out.Err != nil {
			t.Fatal(out.Err)
		}
	}
}

// A watcher that comes late, after the log has discarded much, still finds the open question, and
// not the ones that have closed.
func TestALateWatcherFindsTheOpenQuestion(t *testing.T) {
	r := newAskRig(t, func(ctx context.Context, c *pluginwire.ServerCall) (tool.Result, error) {
		first := kindOf(c.Ask(ctx, personQuestion("first")))
		second := make(chan string)
		go func() { second <- kindOf(c.Ask(ctx, personQuestion("second"))) }() // ends with the call
		text := strings.Repeat("x", 100<<10)
		for i := range 30 {
			if i == 29 {
				text = "last"
			}
			if err := c.Send(ctx, tool.Event{Log: &tool.LogRecord{Message: text}}); err != nil {
				return tool.Result{}, err
			}
		}
		return tool.TextResult(first + " " + <-second), nil
	}, nil)
	key := tool.CallKey{ID: "late"}
	e := openCall(t, r, askCall(key.ID))
	if err := r.AnswerQuestion(t.Context(), key, nextQuestion(t, e).ID, yes); err != nil {
		t.Fatal(err)
	}
	second := nextQuestion(t, e)
	for {
		ev, err := e.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if ev.Log != nil && ev.Log.Message == "last" {
			break
		}
	}
	var asked []string
	for ev, err := range r.WatchCall(t.Context(), key, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if ev.Question != nil {
			asked = append(asked, ev.Question.Person.Message)
			if ev.Question.ID != second.ID {
				continue
			}
			if err := r.AnswerQuestion(t.Context(), key, second.ID, yes); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(asked) != 1 || asked[0] != "second" {
		t.Errorf("the watcher found the questions %q", asked)
	}
	if out := end(t, e); out.Result.Text() != "accept accept" {
		t.Errorf("the tool got %q", out.Result.Text())
	}
}

// Each question is reported once, with how it ended.
func TestQuestionsAreReported(t *testing.T) {
	for want, answer := range map[question.Outcome]*tool.Answer{
		question.Answered:  &yes,
		question.Declined:  {Person: &tool.PersonAnswer{Action: tool.PersonDecline}},
		question.Dismissed: {Person: &tool.PersonAnswer{Action: tool.PersonDismiss}},
		question.Failed:    {Err: tool.Errorf(tool.KindUnavailable, "no")},
		question.Expired:   nil,
		question.Abandoned: nil,
		question.Refused:   nil,
	} {
		t.Run(string(want), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				seen := &recorder{}
				r := newAskRig(t, func(ctx context.Context, c *pluginwire.ServerCall) (tool.Result, error) {
					message := "Go on?"
					if want == question.Refused {
						message = ""
					}
					_, err := c.Ask(ctx, personQuestion(message))
					return tool.TextResult("done"), err
				}, func(cfg *host.Config) { cfg.Observer = seen })
				e := openCall(t, r, askCall("reported"))
				if want != question.Refused {
					q := nextQuestion(t, e)
					switch want {
					case question.Expired:
						time.Sleep(2 * time.Hour)
					case question.Abandoned:
						e.Cancel("not needed")
					default:
						if err := r.AnswerQuestion(t.Context(), tool.CallKey{ID: "reported"}, q.ID, *answer); err != nil {
							t.Fatal(err)
						}
					}
				}
				end(t, e)
				seen.mu.Lock()
				defer seen.mu.Unlock()
				if got := []string{"asks person " + string(want)}; len(seen.asked) != 1 || !strings.HasSuffix(seen.asked[0], " person "+string(want)) {
					t.Errorf("reported %q, want %q", seen.asked, got)
				}
			})
		})
	}
}
