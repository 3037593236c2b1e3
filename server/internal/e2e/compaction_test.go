package e2e_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
)

// sums is a model that computes one sum after the other, with long texts. It derives its progress
// only from the conversation. It holds its first response after the first summary until the test
// releases it.
type sums struct {
	last      int
	summaries atomic.Int32
	halted    chan struct{} // closed when the model waits
	release   chan struct{}
}

var sum = regexp.MustCompile(`(\d+)\+1000`)

func (s *sums) answer(asked thought) (text, calls string) {
	at := 0
	for _, found := range sum.FindAllStringSubmatch(asked.raw, -1) {
		n, _ := strconv.Atoi(found[1])
		at = max(at, n)
	}
	if strings.Contains(fmt.Sprint(asked.Messages[0].Content), "You sum up") {
		s.summaries.Add(1)
		return fmt.Sprintf("The sums up to %d+1000 were made.", at), ""
	}
	if s.summaries.Load() == 1 {
		select {
		case <-s.halted:
		default:
			close(s.halted)
			<-s.release
			return "", ""
		}
	}
	if at == s.last {
		return "All sums were made.", ""
	}
	words := strings.Repeat("I go on with the next sum. ", 60)
	return words, call(fmt.Sprintf("c%d", at+1), "calculator", fmt.Sprintf(`{"expression":"%d+1000"}`, at+1))
}

// A conversation that gets too long is summarized, several times. The test kills agentd between the
// first summary and the next response. The run continues as if it had not been killed: the model
// reads the same texts, the list of things to do is complete, each call has its result, and no call
// executes twice.
func TestALongRunIsSummedUp(t *testing.T) {
	h := start(t)
	s := &sums{last: 12, halted: make(chan struct{}), release: make(chan struct{})}
	m := newMind(t, s.answer)
	d := h.agentdServe(t, m.flags()...)
	id, err := d.StartRun(t.Context(), &agentdv1.StartRunRequest{
		Prompt: "Make twelve sums.", Context: map[string][]byte{"todos": []byte(`["paint the fence"]`)},
		Window: &agentdv1.Window{Tokens: 4000, ClearAt: .5, SummarizeAt: .6, Keep: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	before := d.story(t, id, 0, func(e *agentdv1.RunEvent) bool { return e.GetCompacted().GetSummary() != "" })
	<-s.halted
	d.kill()
	close(s.release)
	asked := m.thoughts()
	d.live(t)
	after := d.story(t, id, uint64(len(before)), nil)

	if halted, again := asked[len(asked)-1].raw, m.thoughts()[len(asked)].raw; again != halted {
		t.Errorf("the model was asked with other words:\n%s\n%s", halted, again)
	}
	results, compacted := 0, 0
	for i, e := range append(before, after...) {
		if e.GetSeq() != uint64(i+1) {
			t.Fatalf("event %d is %v", i+1, e)
		}
		if r := e.GetCallResult(); r != nil {
			results++
			if got := r.GetResult().GetContent()[0].GetText(); got != strconv.Itoa(1000+results) {
				t.Errorf("sum %d is %q", results, got)
			}
		}
		if e.GetCompacted().GetSummary() != "" {
			compacted++
		}
	}
	end := after[len(after)-1].GetRunFinished()
	if end.GetStopReason() != agentdv1.StopReason_STOP_REASON_END_TURN || end.GetText() != "All sums were made." || results != s.last || compacted < 2 {
		t.Errorf("ended with %v after %d results and %d summaries", end, results, compacted)
	}
	last := m.thoughts()[len(m.thoughts())-1].raw
	for _, words := range []string{"Make twelve sums.", "paint the fence", "were made."} {
		if !strings.Contains(last, words) {
			t.Errorf("the model did not read %q at last: %s", words, last)
		}
	}
}

// A script can say what its summaries are.
func TestAScriptIsSummedUp(t *testing.T) {
	h := start(t)
	script := `
summaries: [{text: "the sum is 42"}]
turns:
  - calls: [{id: a, tool: calculator, arguments: {expression: 6*7}}]
  - calls: [{id: b, tool: compact_conversation}]
  - calls: [{id: c, tool: calculator, arguments: {expression: 2*21}}]
  - text: 'I read: {{prompt}}; {{result "c"}}'
`
	path := h.home + "/script.yaml"
	write(t, path, script, 0o600)
	write(t, h.home+"/agentd.yaml", "system_tools: [compact_conversation]\n", 0o600)
	d := h.agentdServe(t, "--model", "scripted:"+path, "--config", h.home+"/agentd.yaml")
	id, err := d.StartRun(t.Context(), &agentdv1.StartRunRequest{Prompt: "sum"})
	if err != nil {
		t.Fatal(err)
	}
	events := d.story(t, id, 0, nil)
	text := events[len(events)-1].GetRunFinished().GetText()
	if !strings.Contains(text, "the sum is 42") || !strings.HasSuffix(text, "; 42") {
		t.Errorf("the run ended with %q", text)
	}
}
