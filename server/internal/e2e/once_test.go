package e2e_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/tool"
)

// kills is the number of kills of toolhost.
const kills = 50

// The test kills toolhost with SIGKILL at random moments between the dispatch of calls with side
// effects and their results. After the restart, a repeated id gets its result, or outcome_unknown,
// and its side effect happened at most once. Every caller gets the result that one caller has seen.
func TestKilledToolhostExecutesNothingTwice(t *testing.T) {
	t.Parallel()
	h := prepare(t)
	installStamped(t, h, "1", "", "")
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	var all []*writing
	h.serve(t)
	for round := range kills {
		asked := h.killWhileWriting(t, round, 1+random.IntN(24))
		h.serve(t)
		c := h.dial(t)
		for range 2 {
			for _, w := range asked {
				w.askAgain(t, c)
			}
		}
		all = append(all, asked...)
	}
	counts := h.linesWritten(t)
	unknown := 0
	for _, w := range all {
		n := counts[w.id]
		if n > 1 || n == 0 && w.answer != unknownAnswer {
			t.Errorf("%s: answered %q, and its side effect happened %d times", w.id, w.answer, n)
		}
		if w.answer == unknownAnswer {
			unknown++
		}
	}
	t.Logf("seed %d: %d calls, %d with an unknown outcome", seed, len(all), unknown)
	if unknown == 0 {
		t.Error("no call was under way when toolhost was killed: nothing was tested")
	}
}

// unknownAnswer stands for outcome_unknown.
const unknownAnswer = "unknown"

// writing is a call with a countable side effect.
type writing struct {
	id     string
	answer string // the answer that every caller must get from now on; empty: not known yet
}

func (w *writing) call() tool.Call {
	return tool.Call{
		ID: w.id, Tool: "versionplugin_write", Arguments: json.RawMessage(`{"file":"written","text":"` + w.id + `"}`), Timeout: patience,
	}
}

// killWhileWriting runs callers and kills toolhost after a number of begun or ended calls. It
// returns the calls when toolhost has ended.
func (h *toolhost) killWhileWriting(t *testing.T, round, events int) []*writing {
	t.Helper()
	c := h.dial(t)
	var mu sync.Mutex
	var made []*writing
	left := events
	happened := func() { // kills toolhost at the last event
		mu.Lock()
		defer mu.Unlock()
		if left--; left == 0 {
			h.cmd.Process.Kill()
		}
	}
	var callers sync.WaitGroup
	for caller := range 4 {
		callers.Go(func() { // ends with toolhost
			for n := 0; ; n++ {
				w := &writing{id: fmt.Sprintf("round-%d.caller-%d.%d", round, caller, n)}
				mu.Lock()
				made = append(made, w)
				mu.Unlock()
				outcome, err := c.Follow(t.Context(), w.call(), func(tool.Event) { happened() })
				if err != nil {
					return
				}
				w.answer = outcome.Result.Text()
				happened()
			}
		})
	}
	callers.Wait()
	<-h.exited
	return made
}

// askAgain repeats the call with the same id.
func (w *writing) askAgain(t *testing.T, c *client.Client) {
	t.Helper()
	outcome, err := c.Call(t.Context(), w.call())
	w.answered(t, outcome, err)
}

// answered checks what a repetition of the call was answered.
func (w *writing) answered(t *testing.T, outcome tool.Outcome, err error) {
	t.Helper()
	answer := outcome.Result.Text()
	if tool.KindOf(err) == tool.KindOutcomeUnknown {
		answer = unknownAnswer
	} else if err != nil || outcome.Result.IsError {
		t.Errorf("%s: asked again it ended with %v %q", w.id, err, answer)
	}
	if w.answer != "" && answer != w.answer {
		t.Errorf("%s: the answer was %q and is %q now", w.id, w.answer, answer)
	}
	w.answer = answer
}

// linesWritten returns how often each text was written.
func (h *toolhost) linesWritten(t *testing.T) map[string]int {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(h.workspace, "written"))
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for line := range strings.Lines(string(data)) {
		text, _, _ := strings.Cut(line, " ")
		counts[text]++
	}
	return counts
}
