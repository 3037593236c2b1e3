package releases

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/version"
	"github.com/toolhost/toolhost/tool"
)

// serveFresh starts a toolhost with an empty state.
func serveFresh(t *testing.T) home {
	t.Helper()
	h := newHome(t)
	h.serve(t, "toolhost", "--plugins", "plugins", "--state", "state", "--workspace", "workspace", "--listen", h.socket("t"))
	return h
}

// TestWriteClient records a conversation of the Go client with toolhost. It does nothing without
// -write.
func TestWriteClient(t *testing.T) {
	if !*write {
		return
	}
	h := serveFresh(t)
	r := &recorder{upstream: dialRaw(t, h.path("t.sock"))}
	serveRaw(t, h.path("p.sock"), r.pass)
	c, err := client.Dial(h.socket("p"))
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err = c.Version(ctx)
	must(err)
	_, err = c.ListTools(ctx, tool.Query{})
	must(err)
	_, err = c.GetTool(ctx, "calculator", tool.Viewer{})
	must(err)
	if _, err = c.GetTool(ctx, "nothing", tool.Viewer{}); tool.KindOf(err) != tool.KindNotFound {
		t.Fatal(err)
	}
	_, err = c.SearchTools(ctx, "arithmetic", tool.Query{})
	must(err)
	_, err = c.RenderTools(ctx, tool.FormatAnthropic, tool.Query{})
	must(err)
	for id, call := range map[string]tool.Call{
		"sum":     {Tool: "calculator", Arguments: []byte(`{"expression":"6*7"}`)},
		"zero":    {Tool: "calculator", Arguments: []byte(`{"expression":"1/0"}`)},
		"nothing": {Tool: "nothing"},
		"write":   {Tool: "counterplugin_write", Arguments: []byte(`{"key":"k"}`)},
	} {
		call.ID, call.Session = id, "s"
		_, _ = c.Call(ctx, call) // the outcome is in the recording
	}
	for _, err := range c.WatchCall(ctx, tool.CallKey{ID: "write", Session: "s"}, 0) {
		must(err)
	}
	must(c.CancelCall(ctx, tool.CallKey{ID: "write", Session: "s"}, "too late"))
	_, err = c.Admin().Plugins(ctx)
	must(err)
	must(c.Close())
	r.save(t, filepath.Join("testdata", version.Number, "client.json"))
}

// toolhost answers the requests of a release's client as that release did. The test decodes the
// answers with the contracts of the release, and so compares what that client would see.
func TestClientConversation(t *testing.T) {
	for _, fixture := range fixtures(t) {
		release := filepath.Base(fixture)
		t.Run(release, func(t *testing.T) {
			t.Parallel()
			then := contractsOf(t, release)
			h := serveFresh(t)
			conn := dialRaw(t, h.path("t.sock"))
			for _, e := range load(t, filepath.Join(fixture, "client.json")) {
				responses, code := replay(t, conn, e)
				want, got := then.seen(t, e.Method, e.Responses), then.seen(t, e.Method, responses)
				if strings.HasSuffix(e.Method, "/Connect") {
					slices.Sort(want) // calls of one stream end in any order
					slices.Sort(got)
				} else if code != e.Status {
					t.Errorf("%s ends with %s, and ended with %s", e.Method, code, e.Status)
				}
				if !slices.Equal(want, got) {
					t.Errorf("the answer to %s has changed (-%s +now):\n%s", e.Method, release, cmp.Diff(want, got))
				}
			}
		})
	}
}
