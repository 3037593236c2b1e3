//go:build more

package languages

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/toolhost/toolhost/server/internal/e2e/languages/setup"
	"github.com/toolhost/toolhost/server/internal/e2e/programs"
)

// languages returns the languages that the machine has. It skips a subtest for each missing one.
func languages(t *testing.T, bin string) []setup.Language {
	t.Helper()
	inGo, err := setup.Go(t.Context(), bin)
	if err != nil {
		t.Fatal(err)
	}
	all := []setup.Language{inGo}
	scratch := t.TempDir() // this folder outlives the subtests
	for name, prepare := range map[string]func(t *testing.T) (setup.Language, error){
		"python":     func(t *testing.T) (setup.Language, error) { return setup.Python(t.Context(), root(t)) },
		"typescript": func(t *testing.T) (setup.Language, error) { return setup.TypeScript(t.Context(), root(t), scratch) },
	} {
		t.Run("set up "+name, func(t *testing.T) {
			l, err := prepare(t)
			if errors.Is(err, setup.ErrMissing) {
				t.Skip(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, l)
		})
	}
	return all
}

// build builds toolhost and agentd and returns their folder.
func build(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	if err := programs.Build(t.Context(), bin, "./cmd/toolhost", "./cmd/agentd"); err != nil {
		t.Fatal(err)
	}
	return bin
}

// root returns the path of the checkout.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
