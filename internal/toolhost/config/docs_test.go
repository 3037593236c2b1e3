package config_test

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/text/yamldoc/yamldoctest"
	"github.com/toolhost/toolhost/internal/toolhost/config"
)

const (
	document = "../../../docs/configuration.md"
	begin    = "<!-- Generated from the structs of internal/toolhost/config: go test ./internal/toolhost/config -update -->\n"
	end      = "<!-- End of what is generated. -->\n"
)

// The generated part of docs/configuration.md follows the structs. Run the test with -update to
// rewrite it.
func TestDocumentationIsFresh(t *testing.T) {
	now, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	want := yamldoctest.Fresh(t, string(now), begin, end, reference(t))
	if string(now) == want {
		return
	}
	if *update {
		if err := os.WriteFile(document, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("%s is stale: run go test ./internal/toolhost/config -update", document)
}

// reference returns the tables of all keys, followed by the defaults as a file.
func reference(t *testing.T) string {
	t.Helper()
	tables := yamldoctest.Reference{
		Sources: []string{"settings.go", "plugin_settings.go", "quotas.go", "workspace.go", "../../telemetry/telemetryconfig/settings.go", "../../access/authconfig/auth.go", "../../access/authconfig/credentials.go", "../../access/authconfig/listeners.go"}, Of: reflect.TypeFor[config.Config](),
		Also: func(key string) string {
			switch {
			case key == "plugin":
				return " " // the table of the defaults describes it
			case strings.HasPrefix(key, "defaults"):
				return " and `" + strings.Replace(key, "defaults", "plugin.NAME", 1) + "`"
			}
			return ""
		},
	}.Write(t)
	c := config.Default()
	return tables + fmt.Sprintf("### All defaults\n\n`toolhost config show` prints this if there is no file, but for the paths, which it knows.\n\n```yaml\n%s```\n\n", c.YAML())
}

// Every file in docs/configuration.md is a valid configuration.
func TestDocumentedFilesLoad(t *testing.T) { yamldoctest.CheckPage(t, document, config.Parse) }
