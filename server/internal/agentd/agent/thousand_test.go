package agent_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model/scripted"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/memory"
	"github.com/toolhost/toolhost/tool"
)

// crowded is a script whose first and last call wait until all runs have made the same call.
const crowded = `
turns:
  - calls: [{id: a, tool: echo, arguments: {key: gather}}]
  - calls: [{id: b, tool: echo, arguments: {key: '{{prompt}}'}}, {id: c, tool: echo, arguments: {key: '{{prompt}}'}}]
  - calls: [{id: d, tool: echo, arguments: {key: gather}}]
  - text: '{{prompt}}: {{result "b"}}'
`

// A thousand runs work at the same time in one agent. Each ends as it should, and its memory is
// bounded.
func TestAThousandRuns(t *testing.T) {
	const runs, mostPerRun = 1000, 40 << 10 // bytes; about three times the measured value
	m, err := scripted.Parse("crowded", []byte(crowded))
	if err != nil {
		t.Fatal(err)
	}
	gathering := newGathering(runs)
	tools := newTools(func(ctx context.Context, call tool.Call, _ func(tool.Status)) tool.Outcome {
		if strings.Contains(string(call.Arguments), "gather") {
			gathering.join(ctx)
		}
		return tool.Outcome{CallID: call.ID, Result: tool.TextResult("echo " + call.ID)}
	})
	f := &fixture{t: t, store: memory.New(), tools: tools}
	t.Cleanup(func() { f.Close(); tools.group.Wait() })
	a, err := agent.New(agent.Config{Store: f.store, Model: m, Tools: tools})
	if err != nil {
		t.Fatal(err)
	}
	f.Agent = a
	before := heap()
	began := time.Now()
	for i := range runs {
		id := fmt.Sprint("run", i)
		if _, err := f.StartRun(t.Context(), loop.Task{RunID: id, Prompt: id}); err != nil {
			t.Fatal(err)
		}
	}
	<-gathering.all()
	used := heap() - before
	t.Logf("%d runs at work keep %d KiB each in memory, journals included", runs, used/runs>>10)
	if used > runs*mostPerRun {
		t.Errorf("they keep %d bytes each, more than %d", used/runs, mostPerRun)
	}
	gathering.release()
	<-gathering.all()
	gathering.release()
	for i := range runs {
		id := fmt.Sprint("run", i)
		if end := ended(t, f, id); end == nil || end.Text != fmt.Sprintf("%s: echo %s.t2.c0", id, id) {
			t.Fatalf("%s ended with %+v", id, end)
		}
	}
	t.Logf("all ended after %s", time.Since(began).Round(time.Millisecond))
}

// gathering lets calls wait for each other, repeatedly.
type gathering struct {
	size int

	mu    sync.Mutex
	here  int
	whole chan struct{} // closed when all calls have arrived
	open  chan struct{} // closed when they may go
}

func newGathering(size int) *gathering {
	return &gathering{size: size, whole: make(chan struct{}), open: make(chan struct{})}
}

func (g *gathering) join(ctx context.Context) {
	g.mu.Lock()
	if g.here++; g.here == g.size {
		close(g.whole)
	}
	open := g.open
	g.mu.Unlock()
	select {
	case <-open:
	case <-ctx.Done():
	}
}

func (g *gathering) all() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.whole
}

func (g *gathering) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.open)
	g.here, g.whole, g.open = 0, make(chan struct{}), make(chan struct{})
}
