//go:build more

package e2e_test

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/testkit/syncbuf"
	"github.com/toolhost/toolhost/server/internal/e2e/programs"
)

// manager is what systemd has of a service: the socket that it listens at, and the one that gets
// the states of the service.
type manager struct {
	listener *os.File
	states   *net.UnixConn
	env      []string
}

func newManager(t *testing.T, home, socket string) *manager {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: strings.TrimPrefix(socket, "unix://"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	m := &manager{env: []string{"NOTIFY_SOCKET=" + filepath.Join(home, "n"), "WATCHDOG_USEC=1000000", "LISTEN_FDS=1"}}
	m.listener, err = l.File()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = m.listener.Close(), l.Close() })
	m.states, err = net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(home, "n"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.states.Close() })
	return m
}

// hears waits for a state of the service.
func (m *manager) hears(t *testing.T, state string) {
	t.Helper()
	if err := m.states.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	data := make([]byte, 4096)
	for {
		n, err := m.states.Read(data)
		if err != nil {
			t.Fatalf("systemd does not hear %s: %v", state, err)
		}
		if bytes.HasPrefix(data[:n], []byte(state)) {
			return
		}
	}
}

// service prepares a program as systemd starts it.
func (m *manager) service(home, name string, args ...string) *exec.Cmd {
	cmd := command(context.Background(), home, m.env, name, args...)
	// systemd sets LISTEN_PID to the id that the process has
	cmd.Args = append([]string{"sh", "-c", `LISTEN_PID=$$ exec "$0" "$@"`, cmd.Path}, args...)
	cmd.Path = "/bin/sh"
	cmd.ExtraFiles = []*os.File{m.listener}
	return cmd
}

// starts starts a service, and stops it at the end of the test.
func (m *manager) starts(t *testing.T, home, name string, args ...string) *toolhost {
	t.Helper()
	s := &toolhost{cmd: m.service(home, name, args...), stderr: &syncbuf.Buffer{}}
	s.cmd.Stderr = s.stderr
	_, exited, err := programs.Start(s.cmd)
	if err != nil {
		t.Fatalf("%v\n%s", err, s.stderr)
	}
	s.exited = exited
	t.Cleanup(func() {
		_ = s.cmd.Process.Signal(syscall.SIGTERM)
		<-s.exited
		if t.Failed() {
			t.Logf("the log of %s:\n%s", name, s.stderr)
		}
	})
	return s
}

// systemd hears of the states of its services, and keeps their sockets: a call that begins while a
// service is replaced waits, and does not fail.
func TestServicesOfSystemd(t *testing.T) {
	t.Parallel()
	h := prepare(t)
	h.grant(t)
	h.trust(t, "toolhost.yaml")
	m := newManager(t, h.home, h.addr)
	args := []string{"serve", "--plugins", h.plugins, "--workspace", h.workspace, "--state", h.state, "--listen", h.addr}
	elsewhere := run(t, m.service(h.home, "toolhost", append(args[:len(args)-1:len(args)-1], h.addr+"2")...))
	elsewhere.says(t, "systemd passes a socket at "+h.addr+", where no listener is configured")
	s := m.starts(t, h.home, "toolhost", args...)
	m.hears(t, "READY=1\nSTATUS=")
	m.hears(t, "WATCHDOG=1")
	h.do(t, "reload").exits(t, 0)
	m.hears(t, "RELOADING=1\nMONOTONIC_USEC=")
	m.hears(t, "READY=1")
	s.stop(t)
	m.hears(t, "STOPPING=1")

	call := command(t.Context(), h.home, []string{"TOOLHOST_ADDR=" + h.addr}, "toolhost", "call", "calculator", `{"expression":"6*7"}`)
	var answer bytes.Buffer
	call.Stdout, call.Stderr = &answer, &answer
	if err := call.Start(); err != nil {
		t.Fatal(err)
	}
	s = m.starts(t, h.home, "toolhost", args...)
	if err := call.Wait(); err != nil || !strings.Contains(answer.String(), "42") {
		t.Errorf("a call while toolhost was replaced: %v, %s", err, answer.String())
	}
	_ = s.cmd.Process.Kill()
	<-s.exited
	m.starts(t, h.home, "toolhost", args...)
	h.do(t, "call", "calculator", `{"expression":"6*7"}`).says(t, "42")
}
