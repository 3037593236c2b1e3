package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/memory"
	"github.com/toolhost/toolhost/server/internal/toolhost/hostserver"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// BenchmarkKnownTools measures a turn by the number of tools that toolhost knows, of which a
// request shows 40. The toolhost is in this process, behind its socket, so the processor time is
// that of both.
func BenchmarkKnownTools(b *testing.B) {
	for _, known := range []int{100, 1_000, 10_000} {
		b.Run(fmt.Sprint(known), func(b *testing.B) {
			c := dialTools(b, known)
			m := &atOnceModel{turns: b.N + 1}
			a, err := agent.New(agent.Config{Store: memory.New(), Model: m, Tools: c, Search: c, ListChangedTools: c.ListChangedTools})
			if err != nil {
				b.Fatal(err)
			}
			defer a.Close()
			limits := loop.Limits{MaxTurns: b.N + 10, MaxCalls: b.N + 10, MaxRepeats: b.N + 10}
			before := processorTime(b)
			b.ResetTimer()
			id, err := a.StartRun(b.Context(), loop.Task{Prompt: "go", RunID: "r", Limits: limits})
			if err != nil {
				b.Fatal(err)
			}
			for _, err := range a.WatchRun(b.Context(), id, 0) {
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64((processorTime(b)-before).Microseconds())/float64(b.N), "cpu-µs/turn")
		})
	}
}

// dialTools returns a client of a toolhost that has the tool echo and others.
func dialTools(b *testing.B, known int) *client.Client {
	tools := make([]hosttest.Tool, known)
	for i := range tools {
		tools[i] = hosttest.Tool{
			Spec: tool.Spec{
				Name: fmt.Sprintf("tool_%d", i), Description: fmt.Sprintf("Converts an amount from one currency to the other, by the rates of table %d.", i),
				InputSchema: json.RawMessage(`{"type":"object","properties":{"from":{"type":"string"},"to":{"type":"string"},"amount":{"type":"number","minimum":0}},"required":["from","to","amount"]}`),
			},
			Run: func(context.Context, tool.Call, func(tool.Event)) (tool.Result, error) {
				return tool.TextResult("1"), nil
			},
		}
	}
	tools[0].Spec.Name = "echo"
	host := hosttest.New(b, nil, tools...)
	dir, err := os.MkdirTemp("/tmp", "bench")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = os.RemoveAll(dir) })
	at, err := address.Unix(filepath.Join(dir, "toolhost.sock"))
	if err != nil {
		b.Fatal(err)
	}
	listener, err := at.Listen(b.Context(), "toolhost")
	if err != nil {
		b.Fatal(err)
	}
	server := hostserver.NewServer(hostserver.Config{Host: host})
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }() // ends with Shutdown
	c, err := client.Dial(at.String())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = c.Close()
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		_ = server.Shutdown(ended)
		<-served
	})
	return c
}
