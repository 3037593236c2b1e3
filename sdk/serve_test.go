package sdk_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"github.com/rogpeppe/go-internal/testscript"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/sdk"
	"github.com/toolhost/toolhost/tool"
)

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script"})
}

// patience bounds the wait for a real process. Only a failing test reaches it.
const patience = 3 * time.Minute

// command returns a command that starts the weather plugin like toolhost does, and the folder of
// its socket.
func command(t *testing.T) (*exec.Cmd, string) {
	t.Helper()
	path, err := exec.LookPath("weather")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("/tmp", "sdk") // the path of t.TempDir is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	cmd := exec.Command(path)
	cmd.Env = append(os.Environ(), pluginwire.CookieKey+"="+pluginwire.CookieValue, "PLUGIN_PROTOCOL_VERSIONS=1", "PLUGIN_UNIX_SOCKET_DIR="+dir)
	return cmd, dir
}

func TestServeUnderGoPlugin(t *testing.T) {
	cmd, _ := command(t)
	client := goplugin.NewClient(&goplugin.ClientConfig{
		HandshakeConfig:  pluginwire.Handshake(),
		VersionedPlugins: pluginwire.HostPlugins(pluginwire.ConnConfig{}),
		Cmd:              cmd,
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC},
		GRPCDialOptions:  pluginwire.DialOptions(),
		Logger:           hclog.NewNullLogger(),
		StartTimeout:     patience,
	})
	defer client.Kill()
	protocol, err := client.Client()
	if err != nil {
		t.Fatal(err)
	}
	if err := protocol.Ping(); err != nil {
		t.Errorf("health: %v", err)
	}
	dispensed, err := protocol.Dispense(pluginwire.PluginKey)
	if err != nil {
		t.Fatal(err)
	}
	conn := dispensed.(*pluginwire.Conn)
	defer func() { _ = conn.Close() }()
	description, err := conn.Describe(t.Context(), pluginwire.DescribeRequest{Tools: []string{"forecast"}})
	if err != nil {
		t.Fatal(err)
	}
	if description.Name != "weather" || len(description.Tools) != 1 || !description.Tools[0].ReadOnly {
		t.Errorf("description %+v", description)
	}
	if err := conn.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	call, err := conn.Start(t.Context(), pluginwire.Start{CallID: "1", Tool: "forecast", Arguments: []byte(`{"city":"Oslo","days":1}`), Complete: true})
	if err != nil {
		t.Fatal(err)
	}
	outcome := endOf(t, call)
	if outcome.Err != nil || !strings.Contains(outcome.Result.Text(), "1 days of rain in Oslo") {
		t.Errorf("outcome %+v", outcome)
	}
	client.Kill()
	if !cmd.ProcessState.Success() {
		t.Errorf("after Shutdown it ended with %v, want success", cmd.ProcessState)
	}
}

// endOf returns the end of a call.
func endOf(t *testing.T, call *pluginwire.Call) *tool.Outcome {
	t.Helper()
	for {
		event, err := call.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if event.Ended != nil {
			return event.Ended
		}
	}
}

func TestProcessEndsWhenItsHostIsGone(t *testing.T) {
	cmd, dir := command(t)
	cc, exited := launch(t, cmd)
	conn := pluginwire.NewConn(cc, pluginwire.ConnConfig{})
	defer func() { _ = conn.Close() }()
	if err := conn.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	workspace := t.TempDir()
	call, err := conn.Start(t.Context(), pluginwire.Start{CallID: "1", Tool: "hold", Complete: true, Workspace: workspace})
	if err != nil {
		t.Fatal(err)
	}
	if event, err := call.Next(t.Context()); err != nil || event.Status == nil {
		t.Fatalf("got %+v, %v; want a status", event, err)
	}
	if err := cc.Close(); err != nil { // as the kernel does for a killed host
		t.Fatal(err)
	}
	select {
	case err := <-exited:
		if err != nil {
			t.Errorf("it ended with %v, want success", err)
		}
	case <-time.After(patience):
		t.Fatal("the process goes on without its host")
	}
	if _, err := os.Stat(filepath.Join(workspace, "closed")); err != nil {
		t.Errorf("the object of the call at work was not closed: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left in the socket's folder: %v, %v", left, err)
	}
}

// launch starts a plugin process without go-plugin, which cannot disappear like a killed host. It
// returns a connection, and a channel with the exit.
func launch(t *testing.T, cmd *exec.Cmd) (*grpc.ClientConn, <-chan error) {
	t.Helper()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	exited := make(chan error, 1)
	done := make(chan struct{})
	go func() { exited <- cmd.Wait(); close(done) }() // ends with the process
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-done })
	fields := strings.Split(strings.TrimSpace(line), "|")
	if len(fields) < 5 || fields[1] != "1" || fields[2] != "unix" || fields[4] != "grpc" {
		t.Fatalf("handshake line %q", line)
	}
	cc, err := grpc.NewClient("unix:"+fields[3], append(pluginwire.DialOptions(), grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cc.Close() })
	return cc, exited
}

// What a tool prints right before it exits is in the streams of its process, which toolhost reads
// to their end.
func TestLastWordsBeforeExit(t *testing.T) {
	cmd, _ := command(t)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(stdout)
	line, err := lines.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	cc, err := grpc.NewClient("unix:"+strings.Split(line, "|")[3], append(pluginwire.DialOptions(), grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cc.Close() }()
	conn := pluginwire.NewConn(cc, pluginwire.ConnConfig{})
	defer func() { _ = conn.Close() }()
	if err := conn.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Start(t.Context(), pluginwire.Start{CallID: "1", Tool: "leave", Arguments: []byte(`{}`), Complete: true}); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(lines)
	if err != nil {
		t.Error(err)
	}
	_ = cmd.Wait() // its exit code is checked below
	if code := cmd.ProcessState.ExitCode(); code != 3 {
		t.Errorf("exit code %d", code)
	}
	if got := string(rest) + stderr.String(); got != "good bye on standard output\ngood bye on standard error\n" {
		t.Errorf("it printed %q", got)
	}
}

func TestServesHealth(t *testing.T) {
	cmd, _ := command(t)
	cc, _ := launch(t, cmd)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	answer, err := grpc_health_v1.NewHealthClient(cc).Check(ctx, &grpc_health_v1.HealthCheckRequest{Service: "plugin"}, grpc.WaitForReady(true))
	if err != nil || answer.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING {
		t.Errorf("health %v, %v", answer, err)
	}
}

func TestAPluginNamesItsSDK(t *testing.T) {
	if got := (sdk.Plugin{Name: "p"}).Describe().SDK; got == nil || got.Name != "toolhost-go" || got.Version != sdk.Version {
		t.Errorf("the description names the SDK %+v, want toolhost-go %s", got, sdk.Version)
	}
}
