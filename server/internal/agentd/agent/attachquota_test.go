package agent_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/memory"
	"github.com/toolhost/toolhost/tool"
)

// slowStore takes a second for each append, so that requests at the same time meet between the
// check of a quota and the append.
type slowStore struct{ *memory.Store }

func (s slowStore) Append(ctx context.Context, b runstore.Batch) error {
	time.Sleep(time.Second)
	return s.Store.Append(ctx, b)
}

func okModel() *fakeModel {
	return &fakeModel{answer: func(context.Context, model.Request) (*model.Response, error) {
		return response(model.StopEndTurn, text("ok")), nil
	}}
}

func bytesOf(n int) []loop.NewAttachment { return []loop.NewAttachment{note(strings.Repeat("x", n))} }

// Requests at the same time cannot pass a quota together that has room for one of them, whether
// they are prompts or messages, and whether the tenant has the quota or the principal.
func TestQuotaOfAttachmentsHoldsForRequestsAtOnce(t *testing.T) {
	for name, quotas := range map[string]agent.Quotas{
		"tenant":    {Tenant: agent.Quota{AttachedPerDay: 100}},
		"principal": {Principal: agent.Quota{AttachedPerDay: 100}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := slowStore{memory.New()}
				f := newFixture(t, okModel(), newTools(echo), func(c *agent.Config) { reads("text/*")(c); c.Store, c.Quotas = store, quotas })
				defer f.Close()
				if _, err := f.StartRun(t.Context(), loop.Task{RunID: "r", Prompt: "hello", Principal: "ada"}); err != nil {
					t.Fatal(err)
				}
				var mu sync.Mutex
				passed := 0
				var group sync.WaitGroup
				for i := range 10 {
					group.Go(func() {
						var err error
						if i%2 == 0 {
							_, err = f.StartRun(t.Context(), loop.Task{Prompt: "hello", Principal: "ada", Attachments: bytesOf(30)})
						} else {
							_, err = f.SendMessage(t.Context(), "r", "more", bytesOf(30)...)
						}
						mu.Lock()
						defer mu.Unlock()
						switch {
						case err == nil:
							passed++
						case tool.KindOf(err) != tool.KindRateLimited:
							t.Error(err)
						}
					})
				}
				group.Wait()
				if passed != 3 {
					t.Errorf("%d requests with 30 bytes passed a quota of 100 bytes", passed)
				}
				if _, err := f.StartRun(t.Context(), loop.Task{Prompt: "hello", Principal: "blue/eve", Attachments: bytesOf(30)}); err != nil {
					t.Errorf("another tenant: %v", err)
				}
			})
		})
	}
}

// A message whose sender does not wait for it still counts, and the next request waits until it
// does.
func TestQuotaCountsAbandonedMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, okModel(), newTools(echo), func(c *agent.Config) {
			reads("text/*")(c)
			c.Store, c.Quotas = slowStore{memory.New()}, agent.Quotas{Principal: agent.Quota{AttachedPerDay: 100}}
		})
		defer f.Close()
		f.start(loop.Task{Principal: "ada"})
		f.end()
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := f.SendMessage(ctx, "r", "more", bytesOf(60)...); err == nil {
			t.Fatal("the sender waited")
		}
		_, err := f.SendMessage(t.Context(), "r", "more", bytesOf(60)...)
		wantFull(t, err, time.Until(time.Now().UTC().Truncate(24*time.Hour).Add(24*time.Hour)), "attached 60 bytes today")
		if _, err := f.SendMessage(t.Context(), "r", "more", bytesOf(40)...); err != nil {
			t.Error(err)
		}
	})
}

// The same request, sent twice at once, is one run, also if the quota has room for it only once.
func TestQuotaCountsARepeatedStartOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, okModel(), newTools(echo), func(c *agent.Config) {
			reads("text/*")(c)
			c.Store, c.Quotas = slowStore{memory.New()}, agent.Quotas{Principal: agent.Quota{AttachedPerDay: 100}}
		})
		defer f.Close()
		var group sync.WaitGroup
		for range 3 {
			group.Go(func() {
				if _, err := f.StartRun(t.Context(), loop.Task{RunID: "r", Prompt: "hello", Attachments: bytesOf(60)}); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		f.end()
	})
}

// What a quota never has room for is not worth another try.
func TestQuotaSaysWhetherWaitingHelps(t *testing.T) {
	f := newFixture(t, okModel(), newTools(echo), func(c *agent.Config) {
		reads("text/*")(c)
		c.Quotas = agent.Quotas{Tenant: agent.Quota{AttachedPerDay: 100}}
	})
	_, err := f.StartRun(t.Context(), loop.Task{Prompt: "hello", Principal: "ada", Attachments: bytesOf(101)})
	wantInvalid(t, err, "have 101 bytes", "the tenant default is 100 bytes per day", "attach less")
}

// A model cannot fill the disk with copies for sub-runs: they count too. A sub-run without room
// fails at once, and the model learns why.
func TestQuotaCountsCopiesForSubRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var read []string
		m := &fakeModel{answer: func(_ context.Context, req model.Request) (*model.Response, error) {
			switch first := req.Messages[0].Blocks; {
			case first[len(first)-1].Text.Text == "read it":
				return response(model.StopEndTurn, text("done")), nil
			case len(req.Messages) == 1:
				var calls []model.Block
				for _, id := range []string{"a", "b", "c", "d"} {
					calls = append(calls, newTask(id, `{"task":"read it","attachments":["note.txt"]}`))
				}
				return response(model.StopToolUse, calls...), nil
			}
			read = results(req)
			return response(model.StopEndTurn, text("done")), nil
		}}
		f := newFixture(t, m, newTools(echo), func(c *agent.Config) {
			withSystem(c)
			reads("text/*")(c)
			c.Quotas = agent.Quotas{Principal: agent.Quota{AttachedPerDay: 100}}
		})
		defer f.Close()
		began, refused := time.Now(), 0
		f.start(loop.Task{Principal: "ada", Attachments: bytesOf(30)})
		f.end()
		for _, r := range read {
			if strings.Contains(r, "rate_limited") && strings.Contains(r, "attached 90 bytes today, and these are 30") {
				refused++
			}
		}
		if len(read) != 4 || refused != 2 || time.Since(began) > time.Second {
			t.Errorf("after %s the model reads %q", time.Since(began), read)
		}
	})
}
