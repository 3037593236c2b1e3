package config_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/text/yamldoc/yamldoctest"
	"github.com/toolhost/toolhost/server/internal/toolhost/config"
)

const (
	document = "../../../../docs/configuration.md"
	begin    = "<!-- Generated from the structs of server/internal/toolhost/config: go -C server test ./internal/toolhost/config -update -->\n"
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
	t.Errorf("%s is stale: run go -C server test ./internal/toolhost/config -update", document)
}

// reference returns the tables of all keys, except those of docs/common-settings.md.
func reference(t *testing.T) string {
	t.Helper()
	return yamldoctest.Reference{
		Sources: []string{"settings.go", "plugin_settings.go", "workspace.go"}, Of: reflect.TypeFor[config.Config](),
		Elsewhere: yamldoctest.InBothFiles,
		Also: func(key string) string {
			switch {
			case key == "plugin":
				return yamldoctest.NoTable // that of the defaults describes it
			case strings.HasPrefix(key, "defaults"):
				return " and `" + strings.Replace(key, "defaults", "plugin.NAME", 1) + "`"
			}
			return ""
		},
	}.Write(t)
}

// Every file in docs/configuration.md is a valid configuration.
func TestDocumentedFilesLoad(t *testing.T) { yamldoctest.CheckPage(t, document, config.Parse) }
