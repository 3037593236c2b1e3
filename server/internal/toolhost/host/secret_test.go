package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/server/internal/secrets"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/logbuffer"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// theKey is the value of a secret.
const theKey = "k3y-0f-the-house"

// secretPlugin is a plugin whose tools get secrets.
type secretPlugin struct {
	hosttest.Plugin
	use func(ctx context.Context, call *pluginwire.ServerCall, given map[string]string) (tool.Result, error)
}

// Call implements pluginwire.Handler.
func (k *secretPlugin) Call(ctx context.Context, call *pluginwire.ServerCall) (tool.Result, error) {
	return k.use(ctx, call, call.Start().Secrets)
}

// needing declares a tool that needs secrets.
func needing(name string, names ...string) hosttest.Tool {
	return hosttest.Tool{Spec: tool.Spec{Name: name, Description: name, RequiresAuth: names}}
}

// newSecretRig returns a host whose plugin was granted KEY, which is in the file, and not OTHER.
func newSecretRig(t *testing.T, use func(context.Context, *pluginwire.ServerCall, map[string]string) (tool.Result, error), change func(*host.Config), tools ...hosttest.Tool) (r *rig, file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "key")
	give(t, file, theKey)
	r = newRig(t, tools, func(cfg *host.Config) {
		cfg.Secrets = secrets.New(secrets.Config{Sources: []secrets.Source{
			{Name: "KEY", Tenants: map[string]secrets.Place{secrets.AllTenants: {File: file}}, Plugins: []string{hosttest.PluginName}}, {Name: "OTHER", Tenants: map[string]secrets.Place{secrets.AllTenants: {File: file}}, Plugins: []string{"another"}},
		}})
		cfg.Logs = logbuffer.New(logbuffer.Config{})
		if change != nil {
			change(cfg)
		}
	})
	r.launch = func(ctx context.Context, _ *catalog.Plugin, _ string) (host.Process, error) {
		return r.start(ctx, &secretPlugin{Plugin: *hosttest.NewPlugin(tools), use: use})
	}
	return r, file
}

func give(t *testing.T, file, value string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(value), 0o600); err != nil {
		t.Fatal(err)
	}
}

// count is a tool that returns the names and lengths of the secrets that it gets.
func count(_ context.Context, _ *pluginwire.ServerCall, given map[string]string) (tool.Result, error) {
	lengths := map[string]int{}
	for name, value := range given {
		lengths[name] = len(value)
	}
	return tool.TextResult(fmt.Sprint(lengths)), nil
}

// Only a tool that declares a secret gets it. A changed value reaches the tool with the next call.
func TestSecretsReachOnlyToolsThatDeclareThem(t *testing.T) {
	r, file := newSecretRig(t, count, nil, needing("careful", "KEY"), needing("stranger"))
	for _, step := range []struct{ value, tool, want string }{
		{theKey, "careful", "map[KEY:16]"}, {theKey, "stranger", "map[]"}, {"a new one\n", "careful", "map[KEY:9]"},
	} {
		give(t, file, step.value)
		if got := outcome(t, r, call(step.tool, `{}`)); got.Err != nil || got.Result.Text() != step.want {
			t.Errorf("%s was given %s (%v), not %s", step.tool, got.Result.Text(), got.Err, step.want)
		}
	}
}

// A tool whose secret is missing is listed with the reason. A call fails with the same message.
// Neither listing nor calling starts a process.
func TestMissingSecret(t *testing.T) {
	preview := needing("preview", "KEY")
	preview.Spec.PartialArguments = true
	r, file := newSecretRig(t, count, nil, needing("careful", "KEY"), needing("greedy", "KEY", "OTHER"), needing("stranger"), preview)
	reasons := func() map[string]string {
		infos, err := r.ListTools(t.Context(), tool.Query{})
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]string{}
		for _, info := range infos {
			all[info.Spec.Name] = info.UnavailableReason
		}
		return all
	}
	granted := `the secret "OTHER" is not granted to the plugin "fixture": add the plugin to secrets.OTHER.plugins of toolhost.yaml`
	if diff := cmp.Diff(map[string]string{"careful": "", "greedy": granted, "stranger": "", "preview": ""}, reasons()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	missing := reasons()["careful"]
	if !strings.Contains(missing, `the secret "KEY" is missing`) || !strings.Contains(missing, file) {
		t.Errorf("the reason is %q", missing)
	}
	info, err := r.GetTool(t.Context(), "careful", tool.Viewer{})
	if err != nil || info.UnavailableReason != missing {
		t.Errorf("GetTool: %q, %v", info.UnavailableReason, err)
	}
	matches, err := r.SearchTools(t.Context(), "careful", tool.Query{})
	if err != nil || len(matches) != 1 || matches[0].UnavailableReason != missing {
		t.Errorf("SearchTools: %+v, %v", matches, err)
	}
	rendered, err := r.RenderTools(t.Context(), tool.FormatOpenAI, tool.Query{})
	if err != nil || !cmp.Equal(rendered.Tools, []string{"stranger"}) {
		t.Errorf("RenderTools: %v, %v", rendered.Tools, err)
	}
	for _, name := range []string{"careful", "preview"} {
		e, err := r.Open(t.Context(), call(name, `{`), false)
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		if err := e.Send(t.Context(), []byte(`}`), true); err != nil {
			t.Fatal(err)
		}
		if got := end(t, e); got.Err == nil || got.Err.Kind != tool.KindUnavailable || !strings.Contains(got.Err.Message, missing) {
			t.Errorf("the call of %s ended with %+v", name, got)
		}
	}
	if r.started() != 0 {
		t.Error("a process was started")
	}
}

// The host starts no process for the preview of a call whose secrets are missing.
func TestPreviewNeedsItsSecrets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		preview := needing("preview", "KEY")
		preview.Spec.PartialArguments = true
		r, file := newSecretRig(t, count, nil, preview)
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		e, err := r.Open(t.Context(), call("preview", `{`), false)
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		synctest.Wait()
		if r.started() != 0 {
			t.Error("a process was started")
		}
	})
}

// A replay needs no secrets, because it executes nothing.
func TestReplayNeedsNoSecret(t *testing.T) {
	r, file := newSecretRig(t, count, nil, needing("careful", "KEY"))
	c := call("careful", `{}`)
	c.ID = "once"
	first := outcome(t, r, c)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if got := outcome(t, r, c); got.Err != nil || !got.Replayed || got.Result.Text() != first.Result.Text() {
		t.Errorf("the call was %+v, and again %+v", first, got)
	}
}

// A call whose secret disappears while it waits for an instance is not executed.
func TestSecretIsGoneBeforeTheStart(t *testing.T) {
	r, file := newSecretRig(t, count, nil, needing("careful", "KEY"))
	launch := r.launch
	r.launch = func(ctx context.Context, p *catalog.Plugin, instance string) (host.Process, error) {
		if err := os.Remove(file); err != nil {
			t.Error(err)
		}
		return launch(ctx, p, instance)
	}
	c := call("careful", `{}`)
	c.ID = "again"
	if got := outcome(t, r, c); got.Err == nil || got.Err.Kind != tool.KindUnavailable || !strings.Contains(got.Err.Message, "nothing was executed") {
		t.Errorf("the call ended with %+v", got)
	}
	give(t, file, theKey)
	if got := outcome(t, r, c); got.Err != nil || got.Replayed {
		t.Errorf("the id, used again, gave %+v", got)
	}
}

// No event of a call, no stored outcome and no view of operators shows a secret.
func TestSecretIsShownNowhere(t *testing.T) {
	leak := func(ctx context.Context, c *pluginwire.ServerCall, given map[string]string) (tool.Result, error) {
		secret := given["KEY"]
		value, err := json.Marshal(map[string]string{secret: secret})
		if err != nil {
			return tool.Result{}, err
		}
		for _, ev := range []tool.Event{
			{Status: &tool.Status{State: tool.StatusDoing, Message: secret, Parameters: value, Progress: &tool.Progress{Message: secret}}},
			{Log: &tool.LogRecord{Level: tool.LogInfo, Message: secret, Attributes: map[string]json.RawMessage{"a": value}}},
		} {
			if err := c.Send(ctx, ev); err != nil {
				return tool.Result{}, err
			}
		}
		if c.Start().Tool == "fails" {
			return tool.Result{}, tool.Errorf(tool.KindUnavailable, "no %s", secret)
		}
		return tool.Result{
			Content: []tool.Content{tool.Text(secret), tool.JSON(value), tool.File("f", "text/plain", []byte(secret))},
			Effects: []tool.Effect{{Key: "e", Value: value}}, Metadata: map[string]json.RawMessage{"m": value},
		}, nil
	}
	r, _ := newSecretRig(t, leak, nil, needing("fails", "KEY"), needing("works", "KEY"))
	for _, name := range []string{"fails", "works"} {
		c := call(name, `{}`)
		c.ID, c.Principal = name, "p"
		outcome(t, r, c)
		var events []tool.Event
		for ev, err := range r.WatchCall(t.Context(), tool.CallKey{ID: name, Principal: "p"}, 0) {
			if err != nil {
				t.Fatal(err)
			}
			events = append(events, ev)
		}
		if len(events) < 4 {
			t.Errorf("%s: there are %d events", name, len(events))
		}
		shownNowhere(t, name+": an event", events)
	}
	r.process(0).End(tool.Exit{Code: 2, Reason: "it said " + theKey, LastStderr: []string{"panic: " + theKey}})
	eventually(t, r, "instance_exited")
	var lines []tool.LogLine
	for line, err := range r.TailLogs(t.Context(), tool.LogQuery{}) {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
	plugins, err := r.Plugins(t.Context())
	if err != nil || len(lines) < 2 || plugins[0].LastExit == nil || plugins[0].LastExit.Code != 2 {
		t.Errorf("there are %d lines, the plugins are %+v, %v", len(lines), plugins, err)
	}
	shownNowhere(t, "a line", lines)
	shownNowhere(t, "a plugin", plugins)
	shownNowhere(t, "what happened", happened(t, r))
}

// A launch error does not show a secret that the plugin once got.
func TestLaunchErrorShowsNoSecret(t *testing.T) {
	r, _ := newSecretRig(t, count, nil, needing("careful", "KEY"))
	r.launch = func(context.Context, *catalog.Plugin, string) (host.Process, error) {
		return nil, errors.New("it printed " + theKey)
	}
	got := outcome(t, r, call("careful", `{}`))
	if got.Err == nil || !strings.Contains(got.Err.Message, "it printed [secret KEY]") {
		t.Errorf("the call ended with %+v", got.Err)
	}
	shownNowhere(t, "what happened", happened(t, r))
}

// happened returns all events of plugins so far.
func happened(t *testing.T, r *rig) []tool.PluginEvent {
	t.Helper()
	var events []tool.PluginEvent
	for ev, err := range r.WatchEvents(t.Context(), tool.EventQuery{}) {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, ev)
	}
	return events
}

// eventually waits until the last event of the plugin has a type.
func eventually(t *testing.T, r *rig, kind string) {
	t.Helper()
	for ev, err := range r.WatchEvents(t.Context(), tool.EventQuery{Follow: true}) {
		if err != nil {
			t.Fatal(err)
		}
		if ev.Type == kind || ev.Type == "instance_crashed" {
			return
		}
	}
}

// shownNowhere fails the test if a value contains the secret.
func shownNowhere[T any](t *testing.T, what string, values []T) {
	t.Helper()
	if len(values) == 0 {
		t.Errorf("%s: there is none", what)
	}
	for _, value := range values {
		text, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), theKey) || strings.Contains(string(text), "azN5LTBmLXRoZS1ob3VzZQ") {
			t.Errorf("%s shows it: %s", what, text)
		}
	}
}
