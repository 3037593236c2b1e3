package server_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/agentconfig"
	"github.com/toolhost/toolhost/server/internal/text/yamldoc/yamldoctest"
	"github.com/toolhost/toolhost/server/internal/toolhost/config"
)

// The generated part of docs/common-settings.md follows the structs that both configuration files
// share, and those of their quotas.
func TestCommonSettings(t *testing.T) {
	const (
		page  = "docs/common-settings.md"
		begin = "<!-- Generated from the structs of both files: go -C server test . -run TestCommonSettings -update -->\n"
		end   = "<!-- End of what is generated. -->\n"
	)
	shared := []string{"server/internal/access/authconfig/listeners.go", "server/internal/access/authconfig/http.go", "server/internal/access/authconfig/auth.go", "server/internal/access/authconfig/credentials.go", "server/internal/access/authconfig/nodes.go", "server/internal/telemetry/telemetryconfig/settings.go"}
	both := yamldoctest.Reference{Sources: shared, Of: reflect.TypeFor[config.Config]()}
	tables := both.WriteKeys(t, "listeners", "network", "http", "nodes", "auth", "telemetry")
	both.Of = reflect.TypeFor[agentconfig.Config]()
	if of := both.WriteKeys(t, "listeners", "network", "http", "nodes", "auth", "telemetry"); of != tables {
		t.Errorf("the files have different keys:\n%s", differences(strings.Split(tables, "\n"), strings.Split(of, "\n")))
	}
	ofToolhost := yamldoctest.Reference{Sources: []string{"server/internal/toolhost/config/quotas.go"}, Of: reflect.TypeFor[config.Config]()}
	ofAgentd := yamldoctest.Reference{Sources: []string{"server/internal/agentd/agentconfig/quotas.go"}, Of: reflect.TypeFor[agentconfig.Config]()}
	tables += "## Quotas of toolhost.yaml\n\n" + ofToolhost.WriteKeys(t, "quotas") +
		"## Quotas of agentd.yaml\n\n" + ofAgentd.WriteKeys(t, "quotas")
	now, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	want := yamldoctest.Fresh(t, string(now), begin, end, tables)
	if string(now) == want {
		return
	}
	if !*update {
		t.Fatalf("%s is stale: run go -C server test . -run TestCommonSettings -update", page)
	}
	if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}
