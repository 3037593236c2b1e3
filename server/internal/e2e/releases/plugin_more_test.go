//go:build more

package releases

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/toolhost/toolhost/server/internal/e2e/languages/setup"
)

// eachSDK runs a test for each language whose plugins need more than Go.
func eachSDK(t *testing.T, test func(t *testing.T, l setup.Language)) {
	t.Helper()
	root, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	for name, prepare := range map[string]func(t *testing.T) (setup.Language, error){
		"python":     func(t *testing.T) (setup.Language, error) { return setup.Python(t.Context(), root) },
		"typescript": func(t *testing.T) (setup.Language, error) { return setup.TypeScript(t.Context(), root, t.TempDir()) },
	} {
		t.Run(name, func(t *testing.T) {
			l, err := prepare(t)
			if errors.Is(err, setup.ErrMissing) {
				t.Skip(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			test(t, l)
		})
	}
}

// TestWritePluginsOfSDKs records the conversations with a Python and a TypeScript plugin. It does
// nothing without -write.
func TestWritePluginsOfSDKs(t *testing.T) {
	if *write {
		eachSDK(t, writePlugin)
	}
}

// A Python and a TypeScript plugin of this tree answer the requests of a release's toolhost as the
// plugins of the release did.
func TestPluginsOfSDKsConversation(t *testing.T) { eachSDK(t, answersAsBefore) }
