package sdk_test

import (
	"os/exec"
	"strings"
	"testing"
)

// A plugin, and so the SDK, must not link the complete validator: the initialization of its package
// runs in every process, and takes longer than the rest of a plugin's start. It must not link
// OpenTelemetry's SDK and exporters either, because toolhost exports its spans.
// go.opentelemetry.io/auto/sdk is a part of OpenTelemetry's API that a plugin cannot leave out: see
// docs/adr/0025-telemetry.md.
func TestPluginsLinkNothingHeavy(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatalf("listing what the SDK links: %v", err)
	}
	linked := strings.Fields(string(out))
	if len(linked) < 100 {
		t.Fatalf("the SDK links %d packages; is that a list of them?", len(linked))
	}
	for _, path := range linked {
		for _, heavy := range []string{"github.com/santhosh-tekuri/", "golang.org/x/text/message", "github.com/toolhost/toolhost/internal/text/arguments",
			"go.opentelemetry.io/otel/sdk", "go.opentelemetry.io/otel/exporters", "go.opentelemetry.io/proto"} {
			if strings.HasPrefix(path, heavy) {
				t.Errorf("the SDK links %s", path)
			}
		}
	}
}
