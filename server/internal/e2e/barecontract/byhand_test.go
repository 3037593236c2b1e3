//go:build more

package barecontract

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/toolhost/toolhost/internal/testkit/syncbuf"
	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/tool"
)

// testByHand runs the plugin without toolhost's supervision, so that the plugin must end by itself.
func testByHand(t *testing.T, p program) {
	t.Run("without the cookie", func(t *testing.T) {
		cmd := exec.CommandContext(t.Context(), p.install(t, t.TempDir()))
		var stdout, stderr strings.Builder
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		_ = cmd.Run() // The exit code is checked below.
		if cmd.ProcessState.ExitCode() != 1 || stdout.Len() > 0 || !strings.Contains(stderr.String(), "plugin of toolhost") {
			t.Errorf("%v, stdout %q, stderr %q; want exit code 1 and words on stderr alone", cmd.ProcessState, stdout.String(), stderr.String())
		}
	})
	t.Run("toolhost is gone", func(t *testing.T) {
		served := serve(t, p)
		health := grpc_health_v1.NewHealthClient(served.cc)
		answer, err := health.Check(t.Context(), &grpc_health_v1.HealthCheckRequest{Service: "plugin"})
		if err != nil || answer.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING {
			t.Errorf("its health is %v, %v", answer, err)
		}
		conn := pluginwire.NewConn(served.cc, pluginwire.ConnConfig{})
		defer conn.Close()
		if err := conn.Open(t.Context()); err != nil {
			t.Fatal(err)
		}
		waiting := open(t, wire{conn}, tool.Call{Tool: "wait", Arguments: json.RawMessage(`{}`)}, true)
		defer waiting.Close()
		nextStatus(t, waiting)
		served.net.Close() // the kernel does the same when toolhost dies
		if err := served.wait(t); err != nil {
			t.Errorf("it ended with %v, want exit code 0", err)
		}
	})
	t.Run("toolhost is gone before the stream", func(t *testing.T) {
		served := serve(t, p)
		health := grpc_health_v1.NewHealthClient(served.cc)
		if _, err := health.Check(t.Context(), &grpc_health_v1.HealthCheckRequest{Service: "plugin"}); err != nil {
			t.Fatal(err)
		}
		served.net.Close()
		if err := served.wait(t); err != nil {
			t.Errorf("it ended with %v, want exit code 0", err)
		}
	})
	t.Run("shutdown before any call", func(t *testing.T) {
		served := serve(t, p)
		err := served.cc.Invoke(t.Context(), "/plugin.GRPCController/Shutdown", &grpc_health_v1.HealthListRequest{}, &grpc_health_v1.HealthListRequest{})
		// The plugin may answer, or exit at once.
		if code := status.Code(err); code != codes.OK && code != codes.Unavailable {
			t.Errorf("shutdown is answered by %v", err)
		}
		if err := served.wait(t); err != nil {
			t.Errorf("it ended with %v, want exit code 0", err)
		}
	})
}

// served is a plugin that has printed its handshake.
type served struct {
	cmd    *exec.Cmd
	exited chan error // receives the result of cmd.Wait
	net    net.Conn
	cc     *grpc.ClientConn
}

func serve(t *testing.T, p program) *served {
	t.Helper()
	dir := shortFolder(t)
	s := &served{cmd: exec.CommandContext(t.Context(), p.install(t, dir)), exited: make(chan error, 1)}
	s.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), pluginwire.CookieKey + "=" + pluginwire.CookieValue, "PLUGIN_UNIX_SOCKET_DIR=" + dir}
	var stderr syncbuf.Buffer
	s.cmd.Stderr = &stderr
	stdout, err := s.cmd.StdoutPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("what it said on stderr:\n%s", stderr.String())
		}
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	// Ends with the process, which ends with the test's context.
	go func() { s.exited <- s.cmd.Wait() }()
	fields := strings.Split(strings.TrimSpace(line), "|")
	if err != nil || len(fields) < 5 {
		t.Fatalf("its first line is %q, %v; stderr: %s", line, err, stderr.String())
	}
	if fields[0] != "1" || fields[1] != "1" || fields[2] != "unix" || filepath.Dir(fields[3]) != dir || fields[4] != "grpc" {
		t.Fatalf("its first line is %q, want 1|1|unix|%s/…|grpc", line, dir)
	}
	if s.net, err = net.Dial("unix", fields[3]); err != nil {
		t.Fatal(err)
	}
	s.cc, err = grpc.NewClient("passthrough:///plugin", append(pluginwire.DialOptions(),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) { return s.net, nil }))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.cc.Close() })
	return s
}

// wait waits until the process has exited. It returns nil for exit code 0.
func (s *served) wait(t *testing.T) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	select {
	case err := <-s.exited:
		return err
	case <-ctx.Done():
		t.Fatal("it is still there")
		return nil
	}
}
