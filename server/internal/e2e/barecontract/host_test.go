//go:build more

package barecontract

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/internal/testkit/syncbuf"
	"github.com/toolhost/toolhost/server/internal/e2e/programs"
	"github.com/toolhost/toolhost/tool"
)

// running is a `toolhost serve` with one plugin.
type running struct {
	home   string
	cmd    *exec.Cmd
	exited <-chan struct{} // closed when the process has exited
	client *client.Client
}

func startHost(t *testing.T, toolhost string, p program) *running {
	t.Helper()
	r := &running{home: shortFolder(t)}
	plugins, workspace := filepath.Join(r.home, "plugins"), filepath.Join(r.home, "workspace")
	for _, dir := range []string{plugins, workspace} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p.install(t, plugins)
	addr := "unix://" + filepath.Join(r.home, "t.sock")
	config, err := json.Marshal(map[string]any{"defaults": map[string]any{"sandbox": map[string]any{"read": p.reads}}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(r.home, "toolhost.yaml") // JSON is valid YAML
	if err := os.WriteFile(file, config, 0o600); err != nil {
		t.Fatal(err)
	}
	r.cmd = exec.Command(toolhost, "serve", "--config", file, "--plugins", plugins, "--listen", addr, "--state", filepath.Join(r.home, "state"), "--workspace", workspace)
	r.cmd.Env = []string{"HOME=" + r.home, "PATH=/usr/bin:/bin", "TMPDIR=" + r.home}
	var log syncbuf.Buffer
	r.cmd.Stderr = &log
	line, exited, err := programs.Start(r.cmd)
	if err != nil {
		t.Fatal(err)
	}
	r.exited = exited
	t.Cleanup(func() {
		_ = r.cmd.Process.Signal(syscall.SIGTERM)
		<-r.exited
		if t.Failed() {
			t.Logf("toolhost's log:\n%s", log.String())
		}
	})
	if !strings.Contains(line, addr) {
		t.Fatalf("toolhost is not ready: %q\n%s", line, log.String())
	}
	if r.client, err = client.Dial(addr); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.client.Close() })
	return r
}

func testHost(t *testing.T, toolhost string, p program) {
	r := startHost(t, toolhost, p)
	testCalls(t, unshaped{r.client})
	t.Run("context", func(t *testing.T) { r.testContext(t) })
	t.Run("one process did it all", func(t *testing.T) { r.testOneProcess(t) })
	t.Run("toolhost is killed", func(t *testing.T) { r.testKilled(t) })
}

func (r *running) testContext(t *testing.T) {
	got := perform(t, r.client, tool.Call{
		ID: "call-4711", Tool: "describe_call", Arguments: json.RawMessage(`{}`), Session: "s-1",
		Context: map[string]json.RawMessage{"colour": json.RawMessage(`"grün"`), "unasked": json.RawMessage(`1`)},
	})
	want := jsonBlock(fmt.Sprintf(`{"call_id":"call-4711","attempt":1,"session":"s-1","workspace":%q,"values":{"colour":"grün"},
		"secrets":{},"traceparent":""}`, filepath.Join(r.home, "workspace")))
	if diff := cmp.Diff(want, got, sameCall); diff != "" {
		t.Errorf("what the call knows (-want +got):\n%s", diff)
	}
}

// testOneProcess checks that one process has served all calls: it neither exited nor did toolhost
// replace it.
func (r *running) testOneProcess(t *testing.T) {
	plugins, err := r.client.Admin().Plugins(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(plugins) != 1 || plugins[0].Launches != 1 || plugins[0].State != tool.PluginEnabled || plugins[0].LastExit != nil {
		t.Errorf("the plugins are %+v; want one that was launched once", plugins)
	}
}

// testKilled checks that the plugin ends when toolhost is killed.
func (r *running) testKilled(t *testing.T) {
	instances, err := r.client.Admin().Instances(t.Context(), "")
	if err != nil || len(instances) != 1 {
		t.Fatalf("the instances are %+v, %v; want one", instances, err)
	}
	if err := r.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-r.exited
	eventually.Holds(t, "the plugin is gone", func() bool {
		// Signal 0 would also succeed for a zombie that no process has waited for. An exited
		// process and a zombie have no environment.
		environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", instances[0].PID))
		return err != nil || len(environ) == 0
	})
}
