package mcpserver_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/server/internal/toolhost/mcp/mcpserver"
	"github.com/toolhost/toolhost/tool"
)

//lint:file-ignore SA1019 Servers and clients of 2025-11-25 use logging, which 2026-07-28 deprecates.

// The client's call id executes once, and another call with it is refused.
func TestCallID(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		s := newFixture(t, nil).connect(t, version, nil)
		id := mcp.Meta{"toolhost/callId": "the-id"}
		first := call(t, s, "count", map[string]any{"key": "a"}, id)
		again := call(t, s, "count", map[string]any{"key": "a"}, id)
		if text(first) != "1" || text(again) != "1" || first.Meta["toolhost/replayed"] != nil || again.Meta["toolhost/replayed"] != true {
			t.Errorf("first %+v, again %+v", first, again)
		}
		if r := call(t, s, "count", map[string]any{"key": "a"}, nil); text(r) != "2" {
			t.Errorf("a call without an id: %+v", r)
		}
		for _, meta := range []mcp.Meta{id, {"toolhost/callId": "a b"}, {"toolhost/callId": 7}, {"toolhost/callId": ""}, {"toolhost/firstSent": "now"}} {
			if _, err := s.CallTool(t.Context(), &mcp.CallToolParams{Meta: meta, Name: "count", Arguments: map[string]any{"key": "b"}}); err == nil {
				t.Errorf("the call with %v was accepted", meta)
			}
		}
	})
}

func TestApproval(t *testing.T) {
	answers := map[string]struct {
		answer *mcp.ElicitResult
		want   string
	}{
		"accepted":          {&mcp.ElicitResult{Action: "accept", Content: map[string]any{"approve": true}}, "done"},
		"accepted with no":  {&mcp.ElicitResult{Action: "accept", Content: map[string]any{"approve": false}}, "did not approve"},
		"declined":          {&mcp.ElicitResult{Action: "decline"}, "did not approve"},
		"dismissed":         {&mcp.ElicitResult{Action: "cancel"}, "`toolhost approvals approve calls/"},
		"no way to ask":     {nil, "`toolhost approvals approve calls/"},
		"declined with yes": {&mcp.ElicitResult{Action: "decline", Content: map[string]any{"approve": true}}, "did not approve"},
	}
	eachVersion(t, func(t *testing.T, version string) {
		for name, test := range answers {
			t.Run(name, func(t *testing.T) {
				f := newFixture(t, nil)
				options, asked := &mcp.ClientOptions{}, ""
				if test.answer != nil {
					options.ElicitationHandler = func(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
						asked = req.Params.Message
						return test.answer, nil
					}
				}
				r := call(t, f.connect(t, version, options), "danger", nil, nil)
				if !strings.Contains(text(r), test.want) || r.IsError != (test.want != "done") {
					t.Errorf("%+v", r)
				}
				if test.answer != nil && !strings.Contains(asked, "danger") {
					t.Errorf("the person was asked %q", asked)
				}
				opened := f.host.Opened()
				if (len(opened) == 2) != (test.want == "done" || name == "dismissed") || opened[0].Approval != nil {
					t.Errorf("the calls were %+v", opened)
				} else if test.want == "done" && (opened[1].Approval == nil || opened[1].Approval.ApprovedBy != "the user of tester") {
					t.Errorf("the approval is %+v", opened[1].Approval)
				}
			})
		}
	})
}

func TestProgressAndLog(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		progress, logged := make(chan *mcp.ProgressNotificationParams, 10), make(chan *mcp.LoggingMessageParams, 10)
		s := newFixture(t, nil).connect(t, version, &mcp.ClientOptions{
			ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { progress <- r.Params },
			LoggingMessageHandler:       func(_ context.Context, r *mcp.LoggingMessageRequest) { logged <- r.Params },
		})
		call(t, s, "steps", map[string]any{"count": 3, "bytes": 5}, mcp.Meta{"progressToken": "p"})
		for i := 1; i <= 3; i++ {
			if p := <-progress; p.ProgressToken != "p" || p.Progress != float64(i) || p.Total != 3 || p.Message == "" {
				t.Errorf("progress %d: %+v", i, p)
			}
		}
		meta := mcp.Meta{mcp.MetaKeyLogLevel: "info"}
		if version == versions[0] {
			meta = nil
			if err := s.SetLoggingLevel(t.Context(), &mcp.SetLoggingLevelParams{Level: "info"}); err != nil {
				t.Fatal(err)
			}
		}
		call(t, s, "talk", map[string]any{"text": "listen"}, meta)
		r := <-logged
		if data, _ := r.Data.(map[string]any); r.Level != "warning" || data["message"] != "listen" || data["n"] != 1.0 {
			t.Errorf("logged %+v", r)
		}
	})
}

// waitFor calls waiting until n calls wait at the key.
func waitFor(t *testing.T, s *mcp.ClientSession, key string, n int) {
	t.Helper()
	for text(call(t, s, "waiting", map[string]any{"key": key}, nil)) != strconv.Itoa(n) {
		if t.Context().Err() != nil {
			t.Fatal("the test has ended")
		}
	}
}

// A client that cancels its request cancels the call, also one with its own id.
func TestCancel(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		f := newFixture(t, nil)
		s := f.connect(t, version, nil)
		for _, meta := range []mcp.Meta{nil, {"toolhost/callId": "mine"}} {
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() {
				_, err := s.CallTool(ctx, &mcp.CallToolParams{Meta: meta, Name: "wait", Arguments: map[string]any{"key": "k"}})
				ended <- err
			}()
			waitFor(t, s, "k", 1)
			cancel()
			if err := <-ended; err == nil {
				t.Error("the canceled call has a result")
			}
			waitFor(t, s, "k", 0)
		}
	})
}

// A client that leaves cancels its calls, except those with its own ids. The next client gets their
// results by the same ids.
func TestClientLeaves(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		f := newFixture(t, nil)
		leaving, staying := f.connect(t, version, nil), f.connect(t, version, nil)
		mine := mcp.Meta{"toolhost/callId": "mine"}
		var left sync.WaitGroup
		defer left.Wait()
		for key, meta := range map[string]mcp.Meta{"named": mine, "nameless": nil} {
			left.Go(func() {
				_, _ = leaving.CallTool(t.Context(), &mcp.CallToolParams{Meta: meta, Name: "wait", Arguments: map[string]any{"key": key}})
			})
			waitFor(t, staying, key, 1)
		}
		f.hangUp[leaving]()
		waitFor(t, staying, "nameless", 0)
		waitFor(t, staying, "named", 1)
		call(t, staying, "release", map[string]any{"key": "named"}, nil)
		if r := call(t, staying, "wait", map[string]any{"key": "named"}, mine); text(r) != "released" || r.Meta["toolhost/replayed"] != true {
			t.Errorf("the result by the same id: %+v", r)
		}
	})
}

// brief is a host that shows little of a result.
type brief struct{ *hosttest.Toolhost }

func (b brief) Open(ctx context.Context, call tool.Call, complete bool) (tool.Execution, error) {
	call.MaxShown = new(1000)
	return b.Toolhost.Open(ctx, call, complete)
}

func TestLargeResult(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		const size = 700_001
		s := newFixture(t, func(c *mcpserver.Config) {
			c.Session, c.Tools = "desk", brief{c.Tools.(*hosttest.Toolhost)}
		}).connect(t, version, nil)
		r := call(t, s, "large", map[string]any{"bytes": size, "kind": "text"}, nil)
		var link *mcp.ResourceLink
		for _, c := range r.Content {
			if c, ok := c.(*mcp.ResourceLink); ok {
				link = c
			}
		}
		if link == nil || *link.Size != size {
			t.Fatalf("the result has no link of %d bytes: %+v", size, r.Content)
		}
		var whole strings.Builder
		pages := 0
		for uri := link.URI; uri != ""; pages++ {
			page, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
			if err != nil || len(page.Contents) != 1 {
				t.Fatalf("reading %s: %v", uri, err)
			}
			whole.WriteString(page.Contents[0].Text)
			uri, _ = page.Contents[0].Meta["toolhost/next"].(string)
		}
		if whole.Len() != size || pages < 3 || !strings.HasPrefix(whole.String(), "0 1 2 3 ") {
			t.Errorf("%d bytes in %d pages", whole.Len(), pages)
		}
		for _, uri := range []string{strings.Replace(link.URI, "desk", "other", 1), "toolhost://artifact/x", "toolhost://artifact/x?offset=-1", "file:///etc/passwd"} {
			if page, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}); err == nil {
				t.Errorf("%s has content: %+v", uri, page)
			}
		}
	})
}

// Connected clients learn that the tools have changed.
func TestListChanged(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t, nil)
			changed := make(chan struct{}, 10)
			s := f.connect(t, version, &mcp.ClientOptions{ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed <- struct{}{} }})
			if _, err := s.ListTools(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute) // of the bubble
			for len(changed) > 0 {
				<-changed // the first tools
			}
			time.Sleep(time.Minute)
			if len(changed) > 0 {
				t.Error("a notification came without a change")
			}
			f.host.SetTools(t, hosttest.Tools()[:3]...)
			<-changed
			if listed, err := s.ListTools(t.Context(), nil); err != nil || len(listed.Tools) != 3 {
				t.Errorf("%+v, %v", listed, err)
			}
			_ = s.Close()
		})
	})
}

// revised counts how often all tools are listed, and how often only their revision is.
type revised struct {
	*hosttest.Toolhost
	all, same atomic.Int32
}

func (r *revised) ListChangedTools(ctx context.Context, q tool.Query, known string) ([]tool.Info, string, error) {
	revision, err := r.Revision(ctx, q)
	if err == nil && revision != "" && revision == known {
		r.same.Add(1)
		return nil, revision, nil
	}
	r.all.Add(1)
	infos, listErr := r.ListTools(ctx, q)
	return infos, revision, errors.Join(err, listErr)
}

// A server that clients are connected to lists the tools again only after a change.
func TestListsChangedToolsOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := &revised{}
		f := newFixture(t, func(c *mcpserver.Config) {
			host.Toolhost = c.Tools.(*hosttest.Toolhost)
			c.ListChangedTools = host.ListChangedTools
		})
		s := f.connect(t, versions[0], nil)
		if _, err := s.ListTools(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		all, same := host.all.Load(), host.same.Load()
		time.Sleep(time.Minute) // of the bubble
		if more := host.all.Load() - all; more > 0 {
			t.Errorf("without a change, the server listed the tools %d times", more)
		}
		if host.same.Load() == same {
			t.Error("the server did not ask for the revision")
		}
		f.host.SetTools(t, hosttest.Tools()[:3]...)
		if listed, err := s.ListTools(t.Context(), nil); err != nil || len(listed.Tools) != 3 {
			t.Errorf("%+v, %v", listed, err)
		}
		_ = s.Close()
	})
}
