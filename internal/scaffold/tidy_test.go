//go:build more

package scaffold_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/toolhost/toolhost"
	"github.com/toolhost/toolhost/internal/scaffold"
)

// The go.mod and go.sum of a new plugin are those that the go command would write, and the reference
// of the SDK can be read. The go command may fetch what only tests of dependencies need.
func TestGoPluginIsTidy(t *testing.T) {
	dir := t.TempDir()
	if _, err := scaffold.Write(scaffold.Config{Name: "weather", Language: "go", Dir: dir, Sources: toolhost.Sources()}); err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]string{
		"go mod tidy -diff":                       "",
		"go list -m all":                          "google.golang.org/grpc v",
		"go doc github.com/toolhost/toolhost/sdk": "Package sdk turns Go functions into tools",
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
