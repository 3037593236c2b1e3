package operate

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/terminal/target"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/fleet"
	"github.com/toolhost/toolhost/tool"
)

// What a node says cannot control the terminal, and cannot begin a line that looks like one of
// another node.
func TestHostileNode(t *testing.T) {
	var out, problems bytes.Buffer
	p := cli.Process{Stdout: &out, Stderr: &problems, Getenv: func(string) string { return "" }}
	steering := "x\x1b[2J\nb  calculator enabled\u202e"
	answers := []fleet.Answer[[]tool.PluginInfo]{{
		Node: target.Node{Name: "a"}, Status: fleet.Status{Node: "a", State: fleet.Answered},
		Value: []tool.PluginInfo{{Name: steering, Version: steering, State: tool.PluginState(steering), Reason: steering}},
	}}
	rows := labeled("a", pluginRows(answers[0].Value, time.Now(), true, false))
	if err := writeFleet(p, append([]string{"NODE"}, pluginHeader(false, true)...), rows, answers); err != nil {
		t.Fatal(err)
	}
	show := &fleetEvents{p: p, width: 1}
	event := eventOfNode{"a", tool.PluginEvent{Seq: 1, Type: steering, Plugin: steering, Digest: steering, Reason: steering}}
	if err := show.event(event); err != nil {
		t.Fatal(err)
	}
	if err := show.problem(fleet.Status{Node: "a", State: fleet.Failed, Reason: steering}); err != nil {
		t.Fatal(err)
	}
	all := out.String() + problems.String()
	if strings.ContainsAny(all, "\x1b\u202e") || strings.Contains(all, "\nb ") {
		t.Errorf("%q", all)
	}
}

// A node cannot make the sums of the others wrap around.
func TestSumsOfStatistics(t *testing.T) {
	of := func(node string, calls uint64, total, mean time.Duration) statsOfNode {
		return statsOfNode{node, viewStats(tool.Stats{
			Tool: "t", Plugin: "p", Calls: calls, Succeeded: calls, Failures: map[tool.Kind]uint64{tool.KindTimeout: calls},
			TotalCost: 1, TotalDuration: total, MeanDuration: mean, P50: mean, P99: mean,
		})}
	}
	sums := sumStats([]statsOfNode{of("a", 2, 2*time.Second, time.Second), of("b", 6, 18*time.Second, 3*time.Second)})
	if len(sums) != 1 {
		t.Fatalf("%+v", sums)
	}
	got := sums[0]
	if got.Calls != 8 || got.Succeeded != 8 || got.Failures[tool.KindTimeout] != 8 || got.TotalCost != 2 ||
		got.TotalDuration != 20*time.Second || got.MeanDuration != 2500*time.Millisecond || got.P50 != 0 || got.P99 != 0 {
		t.Errorf("%+v", got)
	}
	got = sumStats([]statsOfNode{of("a", 5, time.Second, time.Second), of("b", math.MaxUint64, math.MaxInt64, 1)})[0]
	if got.Calls != math.MaxUint64 || got.Failures[tool.KindTimeout] != math.MaxUint64 || got.TotalDuration != math.MaxInt64 {
		t.Errorf("the sums wrap around: %+v", got)
	}
}
