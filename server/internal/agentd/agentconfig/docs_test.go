package agentconfig_test

import (
	"flag"
	"os"
	"reflect"
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/agentconfig"
	"github.com/toolhost/toolhost/server/internal/text/yamldoc/yamldoctest"
)

var update = flag.Bool("update", false, "rewrite the golden files and the generated part of docs/agentd.md")

const (
	document = "../../../../docs/agentd.md"
	begin    = "<!-- Generated from server/internal/agentd/agentconfig/settings.go: go -C server test ./internal/agentd/agentconfig -update -->\n"
	end      = "<!-- End of what is generated. -->\n"
)

// The generated part of docs/agentd.md follows settings.go. Run the test with -update to rewrite
// it.
func TestDocumentationIsFresh(t *testing.T) {
	now, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	tables := yamldoctest.Reference{
		Sources: []string{"settings.go", "agents.go", "console.go", "notify.go", "temporal.go", "../../access/authconfig/listeners.go"}, Of: reflect.TypeFor[agentconfig.Config](),
		Elsewhere: yamldoctest.InBothFiles,
	}.Write(t)
	want := yamldoctest.Fresh(t, string(now), begin, end, tables)
	if string(now) == want {
		return
	}
	if *update {
		if err := os.WriteFile(document, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("%s is stale: run go -C server test ./internal/agentd/agentconfig -update", document)
}

// Every file in docs/agentd.md is a valid configuration.
func TestDocumentedFilesLoad(t *testing.T) { yamldoctest.CheckPage(t, document, agentconfig.Parse) }
