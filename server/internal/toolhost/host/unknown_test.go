package host_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// The error names the nearest name among all tools, not only among the first.
func TestUnknownToolAmongMany(t *testing.T) {
	tools := []hosttest.Tool{{Spec: tool.Spec{Name: "zebra_count", Description: "Counts zebras."}}}
	for i := range 50 {
		tools = append(tools, hosttest.Tool{Spec: tool.Spec{Name: fmt.Sprintf("ant_%d", i), Description: "Does nothing."}})
	}
	r := newRig(t, tools, nil)
	for _, wrong := range []string{"zebra_counts", "zebra.count", "zebraCount", "ZEBRA_COUNT", "zerba_count", "count_zebra"} {
		_, err := r.GetTool(t.Context(), wrong, tool.Viewer{})
		if tool.KindOf(err) != tool.KindNotFound || !strings.Contains(err.Error(), `did you mean "zebra_count"?`) {
			t.Errorf("%s: got %v", wrong, err)
		}
	}
	if _, err := r.GetTool(t.Context(), "lion_count", tool.Viewer{}); err == nil || strings.Contains(err.Error(), "did you mean") {
		t.Errorf("a name that resembles none: %v", err)
	}
	if _, err := r.GetTool(t.Context(), "ant_x", tool.Viewer{}); err == nil || !strings.Contains(err.Error(), `did you mean "ant_0", "ant_1" or "ant_2"?`) {
		t.Errorf("a name that resembles many: %v", err)
	}
}

// The error does not name tools of a plugin that the operator disabled.
func TestHiddenToolsAreNotSuggested(t *testing.T) {
	tools := []hosttest.Tool{{Spec: tool.Spec{Name: "zebra_count", Description: "Counts zebras."}}}
	r := newRig(t, tools, func(cfg *host.Config) { cfg.Disabled = func(string) bool { return true } })
	if _, err := r.GetTool(t.Context(), "zebra_counts", tool.Viewer{}); err == nil || strings.Contains(err.Error(), "zebra_count\"?") {
		t.Errorf("got %v", err)
	}
}

// The error proposes the plugin name that is nearest to a misspelled one.
func TestUnknownPlugin(t *testing.T) {
	r := newRig(t, hosttest.Tools(), nil)
	_, err := r.Restart(t.Context(), strings.ToUpper(hosttest.PluginName[:1])+hosttest.PluginName[2:], "", false)
	if tool.KindOf(err) != tool.KindNotFound || !strings.Contains(err.Error(), `did you mean "`+hosttest.PluginName+`"?`) {
		t.Errorf("got %v", err)
	}
	if _, err = r.Restart(t.Context(), "qqqqqq", "", false); strings.Contains(err.Error(), "did you mean") {
		t.Errorf("got %v", err)
	}
}
