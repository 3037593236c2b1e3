package prove

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

// countTool is a tool of the plugin.
type countTool string

const (
	unchecked countTool = "count"
	checked   countTool = "count_checked"
	sealed    countTool = "count_sealed" // its check seals; only several toolhosts need it
)

// callsOfRun are the calls of each run, as agentd names them after the run: two at the same time,
// and one after them.
var callsOfRun = []string{"t1.c0", "t1.c1", "t2.c0"}

const (
	// again is the pause before a lost request is sent again.
	again = 20 * time.Millisecond
	// maxSettling bounds how often a caller asks what became of a call, like agentd.
	maxSettling = 3
)

// script returns the script of the model that makes the calls of a run.
func (c countTool) script() string {
	call := func(name string) string {
		return fmt.Sprintf("{tool: %s, arguments: {job: '{{prompt}} %s'}}", c, name)
	}
	return fmt.Sprintf("turns:\n  - calls: [%s, %s]\n  - calls: [%s]\n  - text: done\n", call("a"), call("b"), call("c"))
}

// run is one run with its calls. Its session and the id of the run are the same.
type run struct {
	session string
	tool    countTool
	prompt  string // the place where the first call halts, and the session

	mu      sync.Mutex
	answers map[string]answer // by call id
}

func newRun(session string, of countTool, at place) *run {
	return &run{session: session, tool: of, prompt: string(at) + " " + session, answers: map[string]answer{}}
}

func (r *run) answer(id string, result tool.Result, failure *tool.Error) {
	a := answer{receipt: resultText(result)}
	if failure != nil {
		a = answer{failure: failure.Kind, message: failure.Message}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answers[strings.TrimPrefix(id, r.session+".")] = a
}

func resultText(r tool.Result) string {
	var text strings.Builder
	for _, c := range r.Content {
		text.WriteString(c.Text)
	}
	return text.String()
}

// byAgent lets an agent make the calls, and returns when the run or ctx has ended. The client
// connects again as often as agentd is killed.
func (r *run) byAgent(ctx context.Context, agents *client.AgentClient) {
	task := client.Task{Prompt: r.prompt, RunID: r.session, Model: string(r.tool)}
	for {
		if _, err := agents.StartRun(ctx, task); err == nil {
			break
		}
		if !cli.Wait(ctx, again) {
			return
		}
	}
	for seen := uint64(0); ; {
		for event, err := range agents.WatchRun(ctx, r.session, seen) {
			if err != nil {
				break
			}
			if event.Index == 0 {
				seen = event.Seq
			}
			switch e := event.Payload.(type) {
			case *client.CallResult:
				r.answer(e.CallID, e.Result, e.Err)
			case *client.RunEnded:
				return
			}
		}
		if !cli.Wait(ctx, again) {
			return
		}
	}
}

// directly makes the calls without an agent, and returns when they or ctx have ended.
func (r *run) directly(ctx context.Context, tools *client.Client) {
	var group sync.WaitGroup
	for i, id := range callsOfRun {
		arguments, _ := json.Marshal(input{Job: fmt.Sprintf("%s %c", r.prompt, 'a'+i)}) // a text
		group.Go(func() {
			r.call(ctx, tools, tool.Call{ID: r.session + "." + id, Session: r.session, Tool: string(r.tool), Arguments: arguments})
		})
	}
	group.Wait()
}

// call makes a call, and repeats it with the same id while toolhost does not answer, or can ask its
// tool what became of it.
func (r *run) call(ctx context.Context, tools *client.Client, call tool.Call) {
	for settling := 0; ; {
		outcome, err := tools.Call(ctx, call)
		failure := tool.AsError(err)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			r.answer(call.ID, outcome.Result, nil)
			return
		case failure.Kind == tool.KindOutcomeUnknown && r.tool == checked && settling < maxSettling:
			settling++
		case failure.Kind != tool.KindUnavailable:
			r.answer(call.ID, tool.Result{}, failure)
			return
		}
		if !cli.Wait(ctx, again) {
			return
		}
	}
}
