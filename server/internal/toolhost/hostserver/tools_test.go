package hostserver_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"

	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/internal/version"
	"github.com/toolhost/toolhost/internal/wire/link"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/server/internal/toolhost/hostserver"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

func numbered(from, to int) []hosttest.Tool {
	var tools []hosttest.Tool
	for i := from; i < to; i++ {
		tools = append(tools, hosttest.Tool{Spec: tool.Spec{Name: fmt.Sprintf("t%04d", i), Description: "d"}})
	}
	return tools
}

func tools(t *testing.T, a address.Address) toolhostv1.ToolServiceClient {
	t.Helper()
	return toolhostv1.NewToolServiceClient(raw(t, a))
}

func pageNames(resp *toolhostv1.ListToolsResponse) []string {
	var names []string
	for _, info := range resp.GetTools() {
		names = append(names, info.GetSpec().GetName())
	}
	return names
}

func TestPagesSurviveChangesOfTheCatalogue(t *testing.T) {
	host := newHost(t)
	a, _ := serve(t, socket(t), hostserver.Config{Host: host})
	service := tools(t, a)
	host.SetTools(t, numbered(0, 10)...)
	first, err := service.ListTools(bounded(t), &toolhostv1.ListToolsRequest{PageSize: 4})
	if err != nil {
		t.Fatal(err)
	}
	// Two tools disappear: one that was listed, and the last one of the page. Others appear before
	// and after it.
	host.SetTools(t, append(numbered(4, 12), hosttest.Tool{Spec: tool.Spec{Name: "a"}})...)
	second, err := service.ListTools(bounded(t), &toolhostv1.ListToolsRequest{PageSize: 100, PageToken: first.GetNextPageToken()})
	if err != nil {
		t.Fatal(err)
	}
	if got := len(first.GetTools()); got != 4 {
		t.Errorf("the first page has %d tools", got)
	}
	want := []string{"t0004", "t0005", "t0006", "t0007", "t0008", "t0009", "t0010", "t0011"}
	if diff := cmp.Diff(want, pageNames(second)); diff != "" || second.GetNextPageToken() != "" {
		t.Errorf("token %q (-want +got):\n%s", second.GetNextPageToken(), diff)
	}
}

func TestPageSizes(t *testing.T) {
	host := newHost(t)
	a, _ := serve(t, socket(t), hostserver.Config{Host: host})
	service := tools(t, a)
	host.SetTools(t, numbered(0, 1200)...)
	for _, test := range []struct {
		size, maxTools int32
		pages          []int
	}{
		{0, 250, []int{100, 100, 50}},
		{5000, 0, []int{1000, 200}},
		{600, 0, []int{600, 600}},
		{3, 3, []int{3}},
		{3, 5, []int{3, 2}},
	} {
		req := &toolhostv1.ListToolsRequest{PageSize: test.size, Selection: &toolhostv1.ToolSelection{MaxTools: test.maxTools}}
		var pages []int
		var all []string
		for {
			resp, err := service.ListTools(bounded(t), req)
			if err != nil {
				t.Fatal(err)
			}
			pages = append(pages, len(resp.GetTools()))
			all = append(all, pageNames(resp)...)
			if req.PageToken = resp.GetNextPageToken(); req.PageToken == "" {
				break
			}
		}
		if !slices.Equal(pages, test.pages) {
			t.Errorf("size %d, at most %d: pages of %v, want %v", test.size, test.maxTools, pages, test.pages)
		}
		if slices.Sort(all); len(slices.Compact(all)) != len(all) {
			t.Errorf("size %d: a tool is listed twice", test.size)
		}
	}
	for _, req := range []*toolhostv1.ListToolsRequest{{PageSize: -1}, {Selection: &toolhostv1.ToolSelection{MaxTools: -1}}, {PageToken: "x"}, {PageToken: "e30"}} {
		if _, err := service.ListTools(bounded(t), req); status.Code(err) != codes.InvalidArgument {
			t.Errorf("%v: %v", req, err)
		}
	}
}

// asked counts the calls of the host.
type asked struct {
	*hosttest.Toolhost
	tools atomic.Int64
}

func (a *asked) ListPage(ctx context.Context, query tool.Query, after string) ([]tool.Info, error) {
	infos, err := a.Toolhost.ListPage(ctx, query, after)
	a.tools.Add(int64(len(infos)))
	return infos, err
}

// The host creates each of thousands of tools once for all pages, and one more per page.
func TestPagesAskForTheirToolsOnly(t *testing.T) {
	host := &asked{Toolhost: newHost(t)}
	a, _ := serve(t, socket(t), hostserver.Config{Host: host})
	service := tools(t, a)
	host.SetTools(t, numbered(0, 950)...)
	req, listed, pages := &toolhostv1.ListToolsRequest{}, 0, 0
	for pages == 0 || req.GetPageToken() != "" {
		resp, err := service.ListTools(bounded(t), req)
		if err != nil {
			t.Fatal(err)
		}
		listed, pages = listed+len(resp.GetTools()), pages+1
		req.PageToken = resp.GetNextPageToken()
	}
	if made := host.tools.Load(); listed != 950 || pages != 10 || made > 950+10 {
		t.Errorf("%d pages list %d tools; the host made %d", pages, listed, made)
	}
}

// wordy is a host whose tools have long descriptions.
type wordy struct{ *hosttest.Toolhost }

func (w wordy) ListPage(ctx context.Context, query tool.Query, after string) ([]tool.Info, error) {
	infos, err := w.Toolhost.ListPage(ctx, query, after)
	for i := range infos {
		infos[i].Spec.Description = strings.Repeat("d", 1<<20)
	}
	return infos, err
}

func TestPagesFitMessages(t *testing.T) {
	a, _ := serve(t, socket(t), hostserver.Config{Host: wordy{hosttest.New(t, nil, numbered(0, 20)...)}})
	infos, err := dial(t, a).ListTools(bounded(t), tool.Query{})
	if err != nil || len(infos) != 20 {
		t.Errorf("%d tools, %v", len(infos), err)
	}
}

// lastCall returns the last call that the host received.
func lastCall(t *testing.T, f *hosttest.Toolhost) tool.Call {
	t.Helper()
	calls := f.Opened()
	if len(calls) == 0 {
		t.Fatal("no call arrived")
	}
	return calls[len(calls)-1]
}

func TestCallIsTakenFromTheRPC(t *testing.T) {
	host := newHost(t)
	a, _ := serve(t, socket(t), hostserver.Config{Host: host})
	service := tools(t, a)
	request := func(o *toolhostv1.CallOptions) *toolhostv1.CallRequest {
		return &toolhostv1.CallRequest{Tool: "echo", Arguments: []byte(`{"text":"x"}`), Options: o}
	}
	if _, err := service.Call(t.Context(), request(nil)); err != nil {
		t.Fatal(err)
	}
	if got := lastCall(t, host); got.Principal != "uid:"+strconv.Itoa(os.Getuid()) || got.Timeout != 0 || got.Traceparent != "" {
		t.Errorf("got %+v", got)
	}
	ctx, cancel := context.WithTimeout(metadata.AppendToOutgoingContext(t.Context(), "traceparent", "00-meta"), time.Hour)
	defer cancel()
	if _, err := service.Call(ctx, request(nil)); err != nil {
		t.Fatal(err)
	}
	if got := lastCall(t, host); got.Traceparent != "00-meta" || got.Timeout <= 59*time.Minute || got.Timeout > time.Hour {
		t.Errorf("got %+v", got)
	}
	if _, err := service.Call(ctx, request(&toolhostv1.CallOptions{Timeout: toolpb.FromDuration(time.Minute), Traceparent: "00-own"})); err != nil {
		t.Fatal(err)
	}
	if got := lastCall(t, host); got.Traceparent != "00-own" || got.Timeout != time.Minute {
		t.Errorf("got %+v", got)
	}
}

func TestLoopbackIsAnonymous(t *testing.T) {
	host := newHost(t)
	loopback, err := address.Parse("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	a, _ := serve(t, loopback, hostserver.Config{Host: host, Gate: gate.New(gate.Config{
		Rights: hostserver.Rights(), Policy: gate.Always(gate.LocalPolicy(gate.Anonymous("caller"))),
	})})
	if _, err := dial(t, a).Call(bounded(t), tool.Call{Tool: "echo", Arguments: []byte(`{"text":"x"}`), Principal: "root"}); err != nil {
		t.Fatal(err)
	}
	if got := lastCall(t, host).Principal; got != "anonymous" {
		t.Errorf("the principal is %q", got)
	}
	approved := tool.Call{Tool: "danger", Arguments: []byte(`{}`), Approval: &tool.Approval{ApprovedBy: "root (uid:0)"}}
	if got, err := dial(t, a).Call(bounded(t), approved); tool.KindOf(err) != tool.KindDenied {
		t.Errorf("an approval of a caller that may not approve: %+v, %v", got, err)
	}
	admin := dial(t, a)
	if _, err := admin.Plugins(bounded(t)); tool.KindOf(err) != tool.KindDenied || !strings.Contains(err.Error(), "the right plugins.read") {
		t.Errorf("listing plugins: %v", err)
	}
	for _, err := range admin.WatchEvents(bounded(t), tool.EventQuery{}) {
		if tool.KindOf(err) != tool.KindDenied {
			t.Errorf("watching events: %v", err)
		}
	}
	if _, err := admin.Restart(bounded(t), hosttest.PluginName, "", false); tool.KindOf(err) != tool.KindDenied {
		t.Errorf("restarting: %v", err)
	}
}

func TestCallAnswers(t *testing.T) {
	a, _ := serve(t, socket(t), hostserver.Config{Host: newHost(t)})
	service := tools(t, a)
	call := func(name, arguments, id string) (*toolhostv1.CallResponse, error) {
		return service.Call(bounded(t), &toolhostv1.CallRequest{
			Tool: name, Arguments: []byte(arguments), Options: &toolhostv1.CallOptions{CallId: id},
		})
	}
	for range 2 {
		resp, err := call("count", `{"key":"k"}`, "c1")
		if err != nil || resp.GetCallId() != "c1" || resp.GetPlugin() != hosttest.PluginName || resp.GetInstance() == "" || resp.GetResult().GetContent()[0].GetText() != "1" {
			t.Errorf("got %v, %v", resp, err)
		}
	}
	for _, test := range []struct {
		name, arguments string
		kind            tool.Kind
		code            codes.Code
	}{
		{"absent", `{}`, tool.KindNotFound, codes.NotFound},
		{"break", `{"kind":"crashed"}`, tool.KindCrashed, codes.Aborted},
		{"danger", `{}`, tool.KindApprovalRequired, codes.FailedPrecondition},
		{"large", `{"bytes":5000000,"kind":"text"}`, tool.KindInvalidArgument, codes.InvalidArgument},
	} {
		_, err := call(test.name, test.arguments, "")
		if e := toolpb.FromStatusError(err); status.Code(err) != test.code || e.Kind != test.kind || e.Message == "" {
			t.Errorf("%s: %v (%+v)", test.name, err, e)
		}
	}
}

func TestCancellingCallCancelsANamelessCallAlone(t *testing.T) {
	a, _ := serve(t, socket(t), hostserver.Config{Host: newHost(t)})
	service, c := tools(t, a), dial(t, a)
	for id, waiting := range map[string]string{"": "0", "named-1": "1"} {
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error, 1)
		go func() {
			_, err := service.Call(ctx, &toolhostv1.CallRequest{
				Tool: "wait", Arguments: []byte(`{"key":"` + id + `"}`), Options: &toolhostv1.CallOptions{CallId: id},
			})
			failed <- err
		}()
		until(t, c, tool.Call{Tool: "waiting", Arguments: []byte(`{"key":"` + id + `"}`)}, "1")
		cancel()
		if err := <-failed; status.Code(err) != codes.Canceled {
			t.Errorf("%q: %v", id, err)
		}
		until(t, c, tool.Call{Tool: "waiting", Arguments: []byte(`{"key":"` + id + `"}`)}, waiting)
	}
}

// until repeats a call until its text is want, for effects that the server causes later.
func until(t *testing.T, c hosttest.Host, call tool.Call, want string) {
	t.Helper()
	caller := c.(interface {
		Call(context.Context, tool.Call) (tool.Outcome, error)
	})
	for ctx := bounded(t); ; {
		outcome, err := caller.Call(ctx, call)
		if err != nil {
			t.Fatalf("waiting for %s %s to be %s: %v", call.Tool, call.Arguments, want, err)
		}
		if outcome.Result.Text() == want {
			return
		}
	}
}

func TestHealthAndReflection(t *testing.T) {
	a, _ := serve(t, socket(t), hostserver.Config{Host: newHost(t)})
	conn := raw(t, a)
	for _, service := range []string{"", "toolhost.v1.ToolService", "toolhost.v1.AdminService"} {
		resp, err := healthv1.NewHealthClient(conn).Check(bounded(t), &healthv1.HealthCheckRequest{Service: service})
		if err != nil || resp.GetStatus() != healthv1.HealthCheckResponse_SERVING {
			t.Errorf("health of %q: %v, %v", service, resp, err)
		}
	}
	stream, err := reflectionv1.NewServerReflectionClient(conn).ServerReflectionInfo(bounded(t))
	if err != nil {
		t.Fatal(err)
	}
	err = stream.Send(&reflectionv1.ServerReflectionRequest{MessageRequest: &reflectionv1.ServerReflectionRequest_FileContainingSymbol{
		FileContainingSymbol: "toolhost.v1.ToolService",
	}})
	if err != nil {
		t.Fatal(err)
	}
	resp, err := stream.Recv()
	if err != nil || len(resp.GetFileDescriptorResponse().GetFileDescriptorProto()) == 0 {
		t.Errorf("reflection: %v, %v", resp, err)
	}
}

// panicking is a host with bugs.
type panicking struct{ hostserver.Host }

func (panicking) GetTool(context.Context, string, tool.Viewer) (tool.Info, error) {
	panic("a bug in GetTool")
}

func (p panicking) Open(ctx context.Context, call tool.Call, complete bool) (tool.Execution, error) {
	if call.Tool == "bug" {
		panic("a bug in Open")
	}
	return p.Host.Open(ctx, call, complete)
}

func TestAPanicEndsOneCall(t *testing.T) {
	a, _ := serve(t, socket(t), hostserver.Config{Host: panicking{newHost(t)}})
	c := dial(t, a)
	if _, err := c.GetTool(bounded(t), "echo", tool.Viewer{}); tool.KindOf(err) != tool.KindInternal || !strings.Contains(err.Error(), "a bug in GetTool") {
		t.Errorf("GetTool: %v", err)
	}
	waiting, err := c.Open(bounded(t), tool.Call{Tool: "wait", Arguments: []byte(`{"key":"k"}`)}, true)
	if err != nil {
		t.Fatal(err)
	}
	defer waiting.Close()
	if _, err := c.Call(bounded(t), tool.Call{Tool: "bug"}); tool.KindOf(err) != tool.KindInternal || !strings.Contains(err.Error(), "a bug in Open") {
		t.Errorf("Call: %v", err)
	}
	if _, err := c.Follow(bounded(t), tool.Call{Tool: "bug"}, func(tool.Event) {}); tool.KindOf(err) != tool.KindInternal || !strings.Contains(err.Error(), "a bug in Open") {
		t.Errorf("Follow: %v", err)
	}
	until(t, c, tool.Call{Tool: "waiting", Arguments: []byte(`{"key":"k"}`)}, "1") // the tool waits, so the call can be released
	until(t, c, tool.Call{Tool: "release", Arguments: []byte(`{"key":"k"}`)}, "ok")
	for {
		event, err := waiting.Next(bounded(t))
		if err != nil {
			t.Fatalf("another call of the stream ended: %v", err)
		}
		if event.Ended != nil {
			if event.Ended.Err != nil {
				t.Errorf("another call of the stream failed: %v", event.Ended.Err)
			}
			return
		}
	}
}

func TestShutdown(t *testing.T) {
	a, server := serve(t, socket(t), hostserver.Config{Host: newHost(t)})
	c := dial(t, a)
	execution, err := c.Open(bounded(t), tool.Call{Tool: "wait", Arguments: []byte(`{"key":"k"}`)}, true)
	if err != nil {
		t.Fatal(err)
	}
	defer execution.Close()
	until(t, c, tool.Call{Tool: "waiting", Arguments: []byte(`{"key":"k"}`)}, "1")
	done := make(chan error, 1)
	go func() { done <- server.Shutdown(bounded(t)) }()
	// The stream stays open as long as a call is running, but accepts no new calls.
	for {
		_, err := c.Call(bounded(t), tool.Call{Tool: "echo", Arguments: []byte(`{"text":"x"}`)})
		if err != nil {
			// If the client has read by then that the connection ends, it tries another one, and finds
			// no server.
			refused := strings.Contains(err.Error(), "shutting down") || errors.Is(err, link.ErrNoServer)
			if tool.KindOf(err) != tool.KindUnavailable || !refused {
				t.Errorf("a new call while shutting down: %v", err)
			}
			break
		}
	}
	select {
	case err := <-done:
		t.Fatalf("Shutdown returned %v while a call was open", err)
	default:
	}
	execution.Cancel("")
	if err := <-done; err != nil {
		t.Errorf("Shutdown: %v", err)
	}
	if _, err := os.Stat(a.Path()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
}

func TestShutdownCutsOpenCalls(t *testing.T) {
	a, server := serve(t, socket(t), hostserver.Config{Host: newHost(t)})
	c := dial(t, a)
	execution, err := c.Open(bounded(t), tool.Call{Tool: "wait", Arguments: []byte(`{"key":"k"}`)}, true)
	if err != nil {
		t.Fatal(err)
	}
	defer execution.Close()
	until(t, c, tool.Call{Tool: "waiting", Arguments: []byte(`{"key":"k"}`)}, "1")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := server.Shutdown(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Shutdown: %v", err)
	}
	for {
		event, err := execution.Next(bounded(t))
		if err != nil {
			t.Fatal(err)
		}
		if event.Ended != nil {
			if event.Ended.Err == nil || event.Ended.Err.Kind != tool.KindOutcomeUnknown {
				t.Errorf("got %+v", event.Ended)
			}
			return
		}
	}
}

func TestVersion(t *testing.T) {
	a, _ := serve(t, socket(t), hostserver.Config{Host: newHost(t)})
	if got, err := dial(t, a).Version(t.Context()); err != nil || got != version.Info() {
		t.Errorf("%+v, %v; want %+v", got, err, version.Info())
	}
}

// A caller that has the list gets no tools until they change. Without the field known_revision, a
// caller gets all tools each time.
func TestUnchangedListHasNoTools(t *testing.T) {
	host := newHost(t)
	a, _ := serve(t, socket(t), hostserver.Config{Host: host})
	host.SetTools(t, numbered(0, 1200)...)
	c := dial(t, a)
	list := func(q tool.Query, known string) (int, string) {
		t.Helper()
		infos, revision, err := c.ListChangedTools(bounded(t), q, known)
		if err != nil || revision == "" {
			t.Fatalf("the revision is %q: %v", revision, err)
		}
		return len(infos), revision
	}
	first, revision := list(tool.Query{}, "")
	same, again := list(tool.Query{Session: "s"}, revision)
	if first != 1200 || same != 0 || again != revision {
		t.Errorf("%d tools at %q, then %d at %q", first, revision, same, again)
	}
	if few, other := list(tool.Query{Names: []string{numbered(0, 1)[0].Spec.Name}}, revision); few != 1 || other == revision {
		t.Errorf("another selection has %d tools at %q", few, other)
	}
	host.SetTools(t, numbered(0, 3)...)
	if changed, next := list(tool.Query{}, revision); changed != 3 || next == revision {
		t.Errorf("after a change: %d tools at %q", changed, next)
	}
	resp, err := tools(t, a).ListTools(bounded(t), &toolhostv1.ListToolsRequest{})
	if err != nil || len(resp.GetTools()) != 3 || resp.GetRevision() != "" {
		t.Errorf("an earlier client gets %d tools at %q: %v", len(resp.GetTools()), resp.GetRevision(), err)
	}
}

func TestLongReasonsAreRefused(t *testing.T) {
	a, _ := serve(t, socket(t), hostserver.Config{Host: newHost(t)})
	c := dial(t, a)
	admin := c.Because(strings.Repeat("x", tool.MaxReason+1))
	for name, command := range map[string]func() error{
		"restart":  func() error { _, err := admin.Restart(bounded(t), hosttest.PluginName, false); return err },
		"drain":    func() error { return admin.Drain(bounded(t), hosttest.PluginName) },
		"pause":    func() error { return admin.Pause(bounded(t), hosttest.PluginName) },
		"upgrade":  func() error { _, err := admin.Upgrade(bounded(t), hosttest.PluginName); return err },
		"rollback": func() error { _, err := admin.Rollback(bounded(t), hosttest.PluginName); return err },
	} {
		if err := command(); tool.KindOf(err) != tool.KindInvalidArgument || !strings.Contains(err.Error(), "501 bytes") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
