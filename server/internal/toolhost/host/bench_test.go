package host_test

import (
	"context"
	"encoding/json"
	"io"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	pluginv1 "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/server/internal/audit"
	"github.com/toolhost/toolhost/server/internal/toolhost/artifact"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/server/internal/toolhost/policy"
	"github.com/toolhost/toolhost/tool"
)

// BenchmarkCall measures the cost of the host itself for a call with an answer of 1 KiB. There is
// no socket, no other process and no encoding. The calls have ids, so that the host stores their
// outcomes. Rules, artifacts, the ledger on disk and the audit log are enabled.
func BenchmarkCall(b *testing.B) {
	for _, callers := range []int{1, 64} {
		b.Run(strconv.Itoa(callers), func(b *testing.B) {
			h := benchHost(b)
			// cannot fail
			text, _ := json.Marshal(map[string]any{"size": 1 << 10, "note": strings.Repeat("all work and no play ", 8)})
			b.ReportAllocs()
			benchCalls(b, h, callers*runtime.GOMAXPROCS(0), "echo", text)
		})
	}
}

// benchCalls makes b.N calls of a tool, each with an id of its own.
func benchCalls(b *testing.B, h *host.Host, callers int, name string, arguments json.RawMessage) {
	var begun atomic.Int64
	var group sync.WaitGroup
	b.ResetTimer()
	for range callers {
		group.Go(func() { // ends after the last call
			most := 1 << 20
			for n := begun.Add(1); n <= int64(b.N); n = begun.Add(1) {
				id := "bench-" + strconv.FormatInt(n, 10)
				e, err := h.Open(b.Context(), tool.Call{
					ID: id, Tool: name, Principal: "somebody", Arguments: arguments, MaxShown: &most, OutcomeOnly: true,
				}, true)
				if err != nil {
					b.Error(err)
					return
				}
				ev, err := e.Next(b.Context())
				e.Close()
				if o := ev.Ended; err != nil || o == nil || o.Err != nil || len(o.Result.Content) != 1 {
					b.Errorf("the call ended with %+v, %v", o, err)
					return
				}
			}
		})
	}
	group.Wait()
}

// benchHost returns a host with one plugin that answers at once, and a ledger in a file.
func benchHost(b testing.TB) *host.Host {
	b.Helper()
	calls, err := callstore.Open(b.Context(), callstore.Config{Path: filepath.Join(b.TempDir(), "calls.db")})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { calls.Close() })
	return benchHostOf(b, host.Config{Calls: calls})
}

// benchHostOf adds what is missing to the configuration of a host. The tool echo has no side
// effects, and the tool change has some.
func benchHostOf(b testing.TB, c host.Config) *host.Host {
	b.Helper()
	rules, err := policy.Compile([]policy.Rule{
		{Name: "nothing-huge", When: `tool.name == "echo" && arguments.size > 1000000`, Then: policy.Deny},
		{Name: "not-on-sundays", When: `tool.name == "echo" && arguments.note.startsWith("sunday")`, Then: policy.RequireApproval},
	})
	if err != nil {
		b.Fatal(err)
	}
	artifacts, err := artifact.Open(artifact.Config{Dir: filepath.Join(b.TempDir(), "artifacts")})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { artifacts.Close() })
	log, err := audit.Open(audit.Config{File: filepath.Join(b.TempDir(), "audit.log")})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { log.Close() })
	echo := tool.Spec{
		Name: "echo", Description: "Answers with a text.", ReadOnly: true,
		InputSchema: json.RawMessage(`{"type":"object","properties":{"size":{"type":"integer","minimum":0,"maximum":1048576},` +
			`"note":{"type":"string"}},"required":["size","note"],"additionalProperties":false}`),
	}
	change := echo
	change.Name, change.ReadOnly = "change", false
	c.Catalog = openCatalog(b, tool.Description{Name: "echo", Version: "1.0.0", Tools: []tool.Spec{echo, change}})
	c.Settings, c.Artifacts, c.Audit = host.Settings{Policy: rules}, artifacts, log
	c.Launch = func(ctx context.Context, _ *catalog.Plugin, _ string) (host.Process, error) {
		p := unserved{&hosttest.Process{Wire: pluginwire.NewConn(echoing{}, pluginwire.ConnConfig{})}, make(chan struct{})}
		return p, p.Wire.Open(ctx)
	}
	h := host.New(c)
	b.Cleanup(func() { h.Close() })
	return h
}

// unserved is a plugin process without a server. The host stops it once, at the end.
type unserved struct {
	*hosttest.Process
	done chan struct{}
}

func (p unserved) Done() <-chan struct{} { return p.done }

func (p unserved) Alive() bool { return true }

func (p unserved) Stop(context.Context) error {
	p.Wire.Close()
	close(p.done)
	return nil
}

// echoing is a connection to a plugin that answers every call with the same text.
type echoing struct{ grpc.ClientConnInterface }

func (echoing) NewStream(ctx context.Context, _ *grpc.StreamDesc, _ string, _ ...grpc.CallOption) (grpc.ClientStream, error) {
	return &answers{ctx: ctx, calls: make(chan uint32, 1024)}, nil
}

// answers is the stream of all calls. The host does not use the methods that are missing.
type answers struct {
	grpc.ClientStream
	ctx   context.Context
	calls chan uint32 // the calls without an answer
}

func (s *answers) Context() context.Context { return s.ctx }

func (s *answers) Header() (metadata.MD, error) { return nil, nil }

func (s *answers) SendMsg(m any) error {
	if frame := m.(*pluginv1.ConnectRequest); frame.GetStart() != nil {
		s.calls <- frame.GetCall()
	}
	return nil
}

var answer = strings.Repeat("x", 1<<10)

func (s *answers) RecvMsg(m any) error {
	select {
	case number := <-s.calls:
		frame := m.(*pluginv1.ConnectResponse)
		frame.Call = number
		frame.Frame = &pluginv1.ConnectResponse_End{End: &pluginv1.CallEnd{Outcome: &pluginv1.CallEnd_Result{Result: &toolv1.Result{
			Content: []*toolv1.Content{{Block: &toolv1.Content_Text{Text: strings.Clone(answer)}}},
		}}}}
		return nil
	case <-s.ctx.Done():
		return io.EOF
	}
}
