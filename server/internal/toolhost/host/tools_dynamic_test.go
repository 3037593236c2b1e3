package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"time"

	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// chooser is a plugin with a dynamic tool, "choose", whose choices depend on the session, and
// another tool.
type chooser struct {
	mu    sync.Mutex
	asked []pluginwire.DescribeRequest
	// nil: the usual description
	describe func(ctx context.Context, req pluginwire.DescribeRequest) (tool.Description, error)
}

func chooserDescription(input, text string) tool.Description {
	return tool.Description{Name: "chooser", Version: "1", Tools: []tool.Spec{
		{
			Name: "choose", Description: text, ReadOnly: true, Dynamic: true, ContextKeys: []string{"project"},
			InputSchema: json.RawMessage(input),
		},
		{Name: "plain", Description: "Is the same for all.", ReadOnly: true},
	}}
}

const anyChoice = `{"type":"object","properties":{"choice":{"type":"string"}},"required":["choice"]}`

func (c *chooser) Describe(ctx context.Context, req pluginwire.DescribeRequest) (tool.Description, error) {
	c.mu.Lock()
	c.asked = append(c.asked, req)
	describe := c.describe
	c.mu.Unlock()
	if describe != nil {
		return describe(ctx, req)
	}
	enum := fmt.Sprintf(`{"type":"object","properties":{"choice":{"enum":["of %s"]}},"required":["choice"]}`, req.Session)
	d := chooserDescription(enum, "Chooses for "+req.Session+" in "+string(req.Context["project"])+".")
	// fields that a session cannot change
	d.Tools[0].Dangerous, d.Tools[0].Timeout, d.Tools[0].ReadOnly = true, time.Nanosecond, false
	return d, nil
}

func (c *chooser) Call(ctx context.Context, call *pluginwire.ServerCall) (tool.Result, error) {
	for {
		if text, complete, err := call.NextArguments(ctx); err != nil || complete {
			return tool.TextResult("chosen: " + string(text)), err
		}
	}
}

func (c *chooser) questions() []pluginwire.DescribeRequest {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.asked)
}

// newChooserRig returns a host with the plugin chooser. overrides are the operator's settings of
// its tools.
func newChooserRig(t *testing.T, overrides catalog.Overrides) (*rig, *chooser) {
	t.Helper()
	c := &chooser{}
	r := newRig(t, nil, func(cfg *host.Config) {
		cfg.Catalog = openCatalogWith(t, chooserDescription(anyChoice, "Chooses."), overrides)
	})
	r.launch = func(ctx context.Context, _ *catalog.Plugin, _ string) (host.Process, error) { return r.start(ctx, c) }
	return r, c
}

var project = map[string]json.RawMessage{"project": json.RawMessage(`"p"`), "undeclared": json.RawMessage(`1`)}

// Each session sees its description and schema in every form, and its calls have to fit that
// schema, in the host and through the API.
func TestDynamicTools(t *testing.T) {
	test := func(t *testing.T, h hosttest.Host) {
		for _, session := range []string{"s1", "s2"} {
			want := "Chooses for " + session + " in \"p\"."
			q := tool.Query{Session: session, Context: project}
			infos, err := h.ListTools(t.Context(), q)
			if err != nil || len(infos) != 2 || infos[0].Spec.Description != want || infos[1].Spec.Name != "plain" {
				t.Fatalf("listed for %s: %+v, %v", session, infos, err)
			}
			if s := infos[0].Spec; s.Dangerous || s.Timeout != 0 || !s.ReadOnly || !s.Dynamic {
				t.Errorf("a session changed what is not its to change: %+v", s)
			}
			info, err := h.GetTool(t.Context(), "choose", tool.Viewer{Session: session, Context: project})
			if err != nil || info.Spec.Description != want || !strings.Contains(string(info.Spec.InputSchema), "of "+session) {
				t.Errorf("got for %s: %+v, %v", session, info, err)
			}
			matches, err := h.SearchTools(t.Context(), "choose", q)
			if err != nil || len(matches) == 0 || matches[0].Spec.Description != want {
				t.Errorf("found for %s: %+v, %v", session, matches, err)
			}
			rendered, err := h.RenderTools(t.Context(), tool.FormatAnthropic, q)
			if err != nil || !strings.Contains(string(rendered.Content), "of "+session) {
				t.Errorf("rendered for %s: %s, %v", session, rendered.Content, err)
			}
			for _, choice := range []string{"s1", "s2"} {
				arguments := fmt.Sprintf(`{"choice":"of %s"}`, choice)
				got := endOf(t, h, tool.Call{Tool: "choose", Session: session, Context: project, Arguments: json.RawMessage(arguments)})
				if got.Err != nil || got.Result.IsError == (choice == session) {
					t.Errorf("%s chose what is of %s: %+v", session, choice, got)
				}
			}
		}
		if got := endOf(t, h, tool.Call{Tool: "choose", Arguments: json.RawMessage(`{"choice":"any"}`)}); got.Err != nil || got.Result.IsError {
			t.Errorf("without a session: %+v", got)
		}
	}
	t.Run("host", func(t *testing.T) { r, _ := newChooserRig(t, nil); test(t, r) })
	t.Run("client", func(t *testing.T) { r, _ := newChooserRig(t, nil); test(t, served(t, r)) })
}

// endOf makes a call and returns how it ended.
func endOf(t *testing.T, h hosttest.Host, call tool.Call) tool.Outcome {
	t.Helper()
	e, err := h.Open(t.Context(), call, true)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for {
		ev, err := e.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if ev.Ended != nil {
			return *ev.Ended
		}
	}
}

func describedFor(t *testing.T, r *rig, v tool.Viewer) string {
	t.Helper()
	info, err := r.GetTool(t.Context(), "choose", v)
	if err != nil {
		t.Fatal(err)
	}
	return info.Spec.Description
}

// The host asks a plugin once for each principal, session and context. The request contains the
// context keys that the plugin declares, and the names under which the plugin declares its tools.
// Without a session and context, the host does not ask.
func TestWhatIsAsked(t *testing.T) {
	r, c := newChooserRig(t, nil)
	if _, err := r.ListTools(t.Context(), tool.Query{Context: map[string]json.RawMessage{"undeclared": []byte(`1`)}}); err != nil || r.started() != 0 {
		t.Errorf("%d processes were started for no session in particular, %v", r.started(), err)
	}
	viewers := []tool.Viewer{
		{Session: "s"}, {Principal: "p", Session: "s"}, {Session: "s2"}, {Session: "s", Context: project}, {Context: project},
	}
	for range 3 {
		for _, v := range viewers {
			describedFor(t, r, v)
		}
	}
	asked := c.questions()
	if len(asked) != len(viewers) || r.started() != 1 {
		t.Errorf("%d questions for %d viewers, %d processes", len(asked), len(viewers), r.started())
	}
	for _, q := range asked {
		if !slices.Equal(q.Tools, []string{"choose"}) || len(q.Context) > 1 || q.Context["undeclared"] != nil {
			t.Errorf("asked %+v", q)
		}
	}
}

func TestManyAskOnce(t *testing.T) {
	r, c := newChooserRig(t, nil)
	gate := make(chan struct{})
	c.describe = func(context.Context, pluginwire.DescribeRequest) (tool.Description, error) {
		<-gate
		return chooserDescription(anyChoice, "Chooses late."), nil
	}
	var callers sync.WaitGroup
	for range 100 {
		callers.Go(func() {
			if infos, err := r.ListTools(t.Context(), tool.Query{Session: "s"}); err != nil || infos[0].Spec.Description != "Chooses late." {
				t.Errorf("got %+v, %v", infos, err)
			}
		})
	}
	close(gate)
	callers.Wait()
	if n := len(c.questions()); n != 1 {
		t.Errorf("the plugin was asked %d times", n)
	}
}

// Tools whose description for a session is invalid are listed and called as they are declared.
func TestPluginsThatDescribeBadly(t *testing.T) {
	for name, describe := range map[string]func(context.Context, pluginwire.DescribeRequest) (tool.Description, error){
		"an error": func(context.Context, pluginwire.DescribeRequest) (tool.Description, error) {
			return tool.Description{}, errors.New("no")
		},
		"nothing": func(context.Context, pluginwire.DescribeRequest) (tool.Description, error) {
			return tool.Description{}, nil
		},
		"a wrong schema": func(context.Context, pluginwire.DescribeRequest) (tool.Description, error) {
			return chooserDescription(`{"type":`, "Chooses wrongly."), nil
		},
		"a wrong output schema": func(context.Context, pluginwire.DescribeRequest) (tool.Description, error) {
			d := chooserDescription(anyChoice, "Chooses wrongly.")
			d.Tools[0].OutputSchema = json.RawMessage(`{"type":1}`)
			return d, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, c := newChooserRig(t, nil)
			c.describe = describe
			if got := describedFor(t, r, tool.Viewer{Session: "s"}); got != "Chooses." {
				t.Errorf("described as %q", got)
			}
			if got := endOf(t, r, tool.Call{Tool: "choose", Session: "s", Arguments: []byte(`{"choice":"any"}`)}); got.Err != nil || got.Result.IsError {
				t.Errorf("called: %+v", got)
			}
		})
	}
}

// A plugin that does not answer delays callers for at most five seconds. For a while after that, it
// does not delay them at all.
func TestAPluginThatDoesNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, c := newChooserRig(t, nil)
		defer r.Close()
		c.describe = func(ctx context.Context, _ pluginwire.DescribeRequest) (tool.Description, error) {
			<-ctx.Done()
			return tool.Description{}, context.Cause(ctx)
		}
		for _, want := range []time.Duration{5 * time.Second, 0, 0} {
			begin := time.Now()
			if got := describedFor(t, r, tool.Viewer{Session: "s"}); got != "Chooses." || time.Since(begin) != want {
				t.Errorf("described as %q after %v, want %v", got, time.Since(begin), want)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begin := time.Now()
		if infos, err := r.ListTools(ctx, tool.Query{Session: "s2"}); err != nil || len(infos) != 2 || time.Since(begin) != time.Second {
			t.Errorf("who leaves waits %v: %v", time.Since(begin), err)
		}
		got := endOf(t, r, tool.Call{Tool: "choose", Session: "s3", Timeout: time.Second, Arguments: []byte(`{"choice":"any"}`)})
		if got.Err == nil || got.Err.Kind != tool.KindTimeout {
			t.Errorf("a call with less time than the plugin takes: %+v", got)
		}
		c.mu.Lock()
		c.describe = nil
		c.mu.Unlock()
		time.Sleep(10 * time.Second)
		if got := describedFor(t, r, tool.Viewer{Session: "s"}); got != "Chooses for s in ." {
			t.Errorf("once it answers again: %q", got)
		}
	})
}

// The host asks a plugin again after a minute.
func TestAnswersGrowOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, c := newChooserRig(t, nil)
		defer r.Close()
		for i, want := range []int{1, 1, 2} {
			describedFor(t, r, tool.Viewer{Session: "s"})
			if n := len(c.questions()); n != want {
				t.Errorf("at %d seconds: asked %d times, want %d", 30*i, n, want)
			}
			time.Sleep(30 * time.Second)
		}
	})
}

// The operator's configuration overrides the description for a session. The host asks the plugin
// for a renamed tool by its declared name.
func TestOperatorsKnowBetter(t *testing.T) {
	r, c := newChooserRig(t, catalog.Overrides{"choose": {Rename: "pick", Description: "Picks, says the operator."}})
	info, err := r.GetTool(t.Context(), "pick", tool.Viewer{Session: "s"})
	if err != nil || info.Spec.Name != "pick" || info.Spec.Description != "Picks, says the operator." ||
		!strings.Contains(string(info.Spec.InputSchema), "of s") {
		t.Errorf("got %+v, %v", info, err)
	}
	if asked := c.questions(); len(asked) != 1 || !slices.Equal(asked[0].Tools, []string{"choose"}) {
		t.Errorf("asked %+v", asked)
	}
	if got := endOf(t, r, tool.Call{Tool: "pick", Session: "s", Arguments: []byte(`{"choice":"of s2"}`)}); !got.Result.IsError {
		t.Errorf("got %+v", got)
	}
}

func TestSessionsThatCannotBe(t *testing.T) {
	r, _ := newChooserRig(t, nil)
	q := tool.Query{Session: "two words"}
	_, listed := r.ListTools(t.Context(), q)
	_, found := r.SearchTools(t.Context(), "choose", q)
	_, rendered := r.RenderTools(t.Context(), tool.FormatMCP, q)
	_, got := r.GetTool(t.Context(), "choose", q.Viewer())
	for i, err := range []error{listed, found, rendered, got} {
		if tool.KindOf(err) != tool.KindInvalidArgument {
			t.Errorf("%d: %v", i, err)
		}
	}
}

// A list does not wait for a paused plugin.
func TestAPluginThatIsPausedIsListed(t *testing.T) {
	r, _ := newChooserRig(t, nil)
	if err := r.Pause(t.Context(), "chooser", ""); err != nil {
		t.Fatal(err)
	}
	if got := describedFor(t, r, tool.Viewer{Session: "s"}); got != "Chooses." {
		t.Errorf("described as %q", got)
	}
}
