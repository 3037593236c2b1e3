//go:build more

package scaffold_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/toolhost/toolhost"
	"github.com/toolhost/toolhost/server/internal/toolhost/scaffold"
)

// The go.mod and go.sum of a new plugin or caller are those that the go command would write, and
// the reference of the SDK can be read. The go command may fetch what only tests of dependencies
// need.
func TestGoIsTidy(t *testing.T) {
	t.Run("plugin", func(t *testing.T) { isTidy(t, scaffold.Config{}, "sdk", "Package sdk turns Go functions into tools") })
	t.Run("caller", func(t *testing.T) {
		isTidy(t, scaffold.Config{Caller: true}, "client", "Package client is the Go client")
	})
}

func isTidy(t *testing.T, c scaffold.Config, pkg, doc string) {
	t.Helper()
	dir := t.TempDir()
	c.Name, c.Language, c.Dir, c.Sources = "weather", "go", dir, toolhost.Sources()
	if _, err := scaffold.Write(c); err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]string{
		"go mod tidy -diff": "",
		"go list -m all":    "google.golang.org/grpc v",
		"go vet ./...":      "",
		"go doc github.com/toolhost/toolhost/" + pkg: doc,
	} {
		words := strings.Fields(command)
		cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=readonly", "GOWORK=off")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v\n%s", command, err, out)
		}
	}
}
