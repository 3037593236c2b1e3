package hosttest

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/toolhost/toolhost/tool"
)

func names(infos []tool.Info) []string {
	all := []string{}
	for _, i := range infos {
		all = append(all, i.Spec.Name)
	}
	return all
}

func testListTools(t *testing.T, h Host) {
	for _, test := range selections() {
		got, err := h.ListTools(bounded(t), test.query)
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		if diff := cmp.Diff(test.want, names(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

func testGetTool(t *testing.T, h Host) {
	for _, offered := range Tools() {
		got, err := h.GetTool(bounded(t), offered.Spec.Name, tool.Viewer{})
		if err != nil {
			t.Fatal(err)
		}
		if got.Plugin != PluginName || got.PluginVersion != PluginVersion || got.UnavailableReason != "" {
			t.Errorf("%s is of %s %s, unavailable %q", offered.Spec.Name, got.Plugin, got.PluginVersion, got.UnavailableReason)
		}
		// Schemas are compared as JSON: a host or a client may format them differently.
		ignored := cmpopts.IgnoreFields(tool.Spec{}, "InputSchema", "OutputSchema", "Timeout", "DisplayName")
		if diff := cmp.Diff(offered.Spec, got.Spec, cmpopts.EquateEmpty(), ignored); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if !strings.Contains(string(got.Spec.InputSchema), `"object"`) {
			t.Errorf("%s has the schema %s", offered.Spec.Name, got.Spec.InputSchema)
		}
	}
	_, err := h.GetTool(bounded(t), "absent", tool.Viewer{})
	checkKind(t, tool.AsError(err), tool.KindNotFound)
}

func testPlugins(t *testing.T, h Host) {
	none, err := h.Instances(bounded(t), "")
	if err != nil || len(none) != 0 {
		t.Errorf("before any call there are the instances %v, %v", none, err)
	}
	if got := text(t, h, call("echo", `{"text":"x"}`)); got != "x" {
		t.Errorf("got %q", got)
	}
	plugins, err := h.Plugins(bounded(t))
	if err != nil || len(plugins) != 1 {
		t.Fatalf("got %v, %v; want one plugin", plugins, err)
	}
	p := plugins[0]
	if p.Name != PluginName || p.Version != PluginVersion || p.State != tool.PluginEnabled || p.Path == "" ||
		!strings.HasPrefix(p.Digest, "sha256:") || p.Instances != 1 || p.Launches != 1 || len(p.Tools) != len(Tools()) {
		t.Errorf("got %+v", p)
	}
	for _, plugin := range []string{"", PluginName} {
		instances, err := h.Instances(bounded(t), plugin)
		if err != nil || len(instances) != 1 {
			t.Fatalf("got %v, %v; want one instance", instances, err)
		}
		i := instances[0]
		if i.Plugin != PluginName || i.State != tool.InstanceReady || i.PID <= 0 || i.TotalCalls < 1 ||
			i.StartTime.IsZero() || !strings.HasPrefix(i.ID, PluginName+"-") {
			t.Errorf("got %+v", i)
		}
	}
	if _, err := h.Instances(bounded(t), "absent"); tool.KindOf(err) != tool.KindNotFound {
		t.Errorf("of an absent plugin: %v", err)
	}
}

func testRestart(t *testing.T, h Host) {
	if _, err := h.Restart(bounded(t), "absent", "", false); tool.KindOf(err) != tool.KindNotFound {
		t.Errorf("restarting an absent plugin: %v", err)
	}
	before := do(t, h, call("echo", `{"text":"x"}`))
	done, err := h.Restart(bounded(t), PluginName, "", false)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{before.Instance}, done.Stopped); diff != "" || len(done.Started) != 1 {
		t.Errorf("got %+v, want %s stopped", done, before.Instance)
	}
	after := do(t, h, call("echo", `{"text":"x"}`))
	if after.Instance == before.Instance || !slices.Contains(done.Started, after.Instance) {
		t.Errorf("after the restart a call ran in %s; before in %s; started %v", after.Instance, before.Instance, done.Started)
	}
}
