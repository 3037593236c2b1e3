package agent_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

// gauge counts the bytes of attachments in the requests that a model works on.
type gauge struct {
	mu        sync.Mutex
	now, most int
}

func (g *gauge) add(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.now += n
	g.most = max(g.most, g.now)
}

func (g *gauge) read() (now, most int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.now, g.most
}

// holding is a model that answers a request when it gets a step, and measures the requests until
// then.
func holding(g *gauge, step <-chan struct{}) *fakeModel {
	return &fakeModel{answer: func(ctx context.Context, req model.Request) (*model.Response, error) {
		n := 0
		for _, a := range attachments(req) {
			n += len(a.Data)
		}
		g.add(n)
		defer g.add(-n)
		select {
		case <-step:
			return response(model.StopEndTurn, text("ok")), nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}}
}

// files returns two attachments of 10 bytes, and the first one once more.
func files(run int) []loop.NewAttachment {
	a, b := note(fmt.Sprintf("%08d-a", run)), note(fmt.Sprintf("%08d-b", run))
	return []loop.NewAttachment{a, b, a}
}

// However many runs make requests, the contents of their attachments have a bound. A request that
// waits for room can be cancelled, and a request without attachments does not wait.
func TestContentsInMemoryAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const runs, memory, each = 40, 64, 20
		var g gauge
		step := make(chan struct{})
		f := newFixture(t, holding(&g, step), newTools(echo), func(c *agent.Config) { reads("text/*")(c); c.AttachmentMemory = memory })
		defer f.Close()
		id := func(i int) string { return fmt.Sprint("run-", i) }
		for i := range runs {
			if _, err := f.StartRun(t.Context(), loop.Task{RunID: id(i), Prompt: "hello", Attachments: files(i)}); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if now, _ := g.read(); now != memory/each*(each+10) { // the model gets the first note twice
			t.Fatalf("requests with %d bytes are in flight", now)
		}
		asked := len(f.model.seen())
		if _, err := f.StartRun(t.Context(), loop.Task{RunID: "bare", Prompt: "hello"}); err != nil {
			t.Fatal(err)
		}
		for i := range runs {
			if err := f.CancelRun(t.Context(), id(i), ""); err != nil {
				t.Fatal(err)
			}
			if i == runs/2 {
				break
			}
		}
		synctest.Wait()
		if n := len(f.model.seen()); n <= asked {
			t.Error("a request without attachments waited, or cancelled ones kept their room")
		}
		for range runs - runs/2 {
			step <- struct{}{}
		}
		for i := range runs {
			want := loop.StopEndTurn
			if i <= runs/2 {
				want = loop.StopCancelled
			}
			if end := ended(t, f, id(i)); end.StopReason != want {
				t.Errorf("run %d ended with %+v", i, end)
			}
		}
		if now, most := g.read(); now != 0 || most != memory/each*(each+10) {
			t.Errorf("%d bytes at most, and %d now", most, now)
		}
	})
}

// A request that never finds room fails instead of waiting for it.
func TestRequestsThatNeverFindRoomFail(t *testing.T) {
	m := turns(response(model.StopEndTurn, text("ok")))
	f := newFixture(t, m, newTools(echo), func(c *agent.Config) { reads("text/*")(c); c.AttachmentMemory = 19 })
	f.start(loop.Task{Attachments: files(1)})
	if end := f.end(); end.StopReason != loop.StopInternalError || !strings.Contains(end.Message, "have 20 bytes, and this agentd holds at most 19") || len(m.seen()) != 0 {
		t.Errorf("the run ends with %+v after %d requests", end, len(m.seen()))
	}
}

// A run whose model is overloaded holds no contents while it waits for the next attempt.
func TestPausesHoldNoContents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const pause = time.Minute
		began, failed := time.Now(), false
		m := &fakeModel{answer: func(_ context.Context, req model.Request) (*model.Response, error) {
			if last := req.Messages[0].Blocks; last[len(last)-1].Text.Text == "overloaded" && !failed {
				failed = true
				return nil, &model.Error{Status: 529, Message: "overloaded", Retryable: true, RetryAfter: pause}
			}
			return response(model.StopEndTurn, text("ok")), nil
		}}
		f := newFixture(t, m, newTools(echo), func(c *agent.Config) { reads("text/*")(c); c.AttachmentMemory = 20 })
		defer f.Close()
		for i, prompt := range []string{"overloaded", "quick"} {
			if _, err := f.StartRun(t.Context(), loop.Task{RunID: prompt, Prompt: prompt, Attachments: files(i)}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		if end := ended(t, f, "quick"); end.StopReason != loop.StopEndTurn || time.Since(began) >= pause {
			t.Errorf("the other run ended with %+v after %s", end, time.Since(began))
		}
		if end := ended(t, f, "overloaded"); end.StopReason != loop.StopEndTurn || len(attachments(m.seen()[2])) != 3 || len(attachments(m.seen()[2])[2].Data) != 10 {
			t.Errorf("the repeated request ended with %+v", end)
		}
	})
}

// A handle of an artifact is small, and its content is large. So requests that attach artifacts
// wait for memory, and agentd stops reading an artifact that is too large for a prompt.
func TestArtifactsInMemoryAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const requests = 40
		var g gauge
		step := make(chan struct{})
		f := newFixture(t, turns(response(model.StopEndTurn, text("ok"))), newTools(echo), func(c *agent.Config) {
			reads("text/*")(c)
			c.ReadArtifact = func(ctx context.Context, q tool.ArtifactQuery) (tool.ArtifactPiece, error) {
				g.add(1)
				defer g.add(-1)
				select {
				case <-step:
					return tool.ArtifactPiece{Data: []byte("hello"), Size: 5}, nil
				case <-ctx.Done():
					return tool.ArtifactPiece{}, context.Cause(ctx)
				}
			}
		})
		defer f.Close()
		cancelled, cancel := context.WithCancel(t.Context())
		var group, gone sync.WaitGroup
		for i := range requests {
			ctx, at := t.Context(), &group
			if i%2 == 1 {
				ctx, at = cancelled, &gone
			}
			at.Go(func() {
				_, err := f.StartRun(ctx, loop.Task{Prompt: "hello", Attachments: []loop.NewAttachment{{Artifact: "h"}}})
				if (err == nil) != (ctx == t.Context()) {
					t.Errorf("request %d: %v", i, err)
				}
			})
		}
		synctest.Wait()
		cancel()
		gone.Wait()
		for range requests / 2 {
			step <- struct{}{}
		}
		group.Wait()
		if _, most := g.read(); most != 64/12 {
			t.Errorf("%d requests read artifacts at the same time", most)
		}
	})
}
