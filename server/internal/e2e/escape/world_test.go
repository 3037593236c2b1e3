//go:build linux && (amd64 || arm64)

package escape_test

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// nobody is the user of the unprivileged toolhost.
const nobody = 65534

// world is a machine with a toolhost and with much that its plugins must not reach. All secrets
// contain the canary: an answer that contains it is an escape.
type world struct {
	base, canary string
	uid          int
	bin          string   // the folder of toolhost
	more         []string // further arguments of toolhost

	victim   *exec.Cmd // another process of the same user
	signals  chan os.Signal
	tcp, udp string // services of the host, which must get no connection
	abstract string
	visits   visits
	excused  []string // services that this machine cannot protect
}

// newWorld makes a world that belongs to a user.
func newWorld(t *testing.T, uid int) *world {
	t.Helper()
	// Not in /tmp, which is separate for plugins. Short, because socket paths are bounded.
	base, err := os.MkdirTemp("/var/tmp", "esc-")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{base: base, canary: "canary-" + rand.Text(), uid: uid, bin: bin}
	t.Cleanup(func() { os.RemoveAll(base) })
	for _, dir := range []string{"work/inside", "work-other", "outside", "home/.ssh", "secrets", "run", "plugins"} {
		if err := os.MkdirAll(w.path(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"work-other/secret.txt", "outside/secret.txt", "home/.ssh/id_ed25519"} {
		w.file(t, name, w.canary+"\n")
	}
	w.file(t, "secrets/token", w.token())
	w.file(t, "work/inside/file.txt", "this may be read\n")
	w.file(t, "work/secret.txt", "this is not the secret of the same name\n")
	w.installPlugins(t)
	w.file(t, "toolhost.yaml", w.settings())
	if err := filepath.WalkDir(base, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, uid, -1))
	}); err != nil {
		t.Fatal(err)
	}
	w.startServices(t)
	w.startVictim(t)
	w.shareMemory(t)
	return w
}

// token is the secret of a tool. It does not contain the canary: toolhost redacts the secrets that
// it knows, and the test has to see every appearance of the canary.
func (w *world) token() string { return "token-" + w.canary[len("canary-"):] }

func (w *world) path(elements ...string) string {
	return filepath.Join(append([]string{w.base}, elements...)...)
}

func (w *world) file(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(w.path(name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// visits counts the connections to a service of the host.
type visits struct {
	mu  sync.Mutex
	all []string
}

func (v *visits) add(what string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.all = append(v.all, what)
}

func (v *visits) list() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append([]string(nil), v.all...)
}

// startServices starts services of the host on loopback, at an abstract name and at a path. They
// send the canary to every client.
func (w *world) startServices(t *testing.T) {
	t.Helper()
	w.abstract = "@toolhost-escape-" + strconv.Itoa(os.Getpid()) + w.canary[:12]
	w.tcp = w.listen(t, "tcp", "127.0.0.1:0")
	w.listen(t, "unix", w.abstract)
	w.listen(t, "unix", w.path("outside", "service.sock"))
	packets, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w.udp = packets.LocalAddr().String()
	var serving sync.WaitGroup
	serving.Go(func() { // ends with the socket
		for room := make([]byte, 100); ; {
			_, from, err := packets.ReadFrom(room)
			if err != nil {
				return
			}
			w.visits.add(w.udp)
			packets.WriteTo([]byte(w.canary), from)
		}
	})
	t.Cleanup(func() { packets.Close(); serving.Wait() })
}

// listen starts a service on a stream socket, and returns its address.
func (w *world) listen(t *testing.T, network, address string) string {
	t.Helper()
	l, err := net.Listen(network, address)
	if err == nil && filepath.IsAbs(address) {
		err = os.Chown(address, w.uid, -1)
	}
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() { // ends with the listener
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			w.visits.add(l.Addr().String())
			conn.Write([]byte(w.canary))
			conn.SetReadDeadline(time.Now().Add(time.Second))
			conn.Read(make([]byte, 1)) // otherwise the client's write could fail
			conn.Close()
		}
	})
	t.Cleanup(func() { l.Close(); serving.Wait() })
	return l.Addr().String()
}

// harmless is a signal that no other process sends here, and that a process ignores by default.
const harmless = syscall.SIGWINCH

// startVictim starts a process with the canary in its environment. It reports signals that it gets.
func (w *world) startVictim(t *testing.T) {
	t.Helper()
	w.victim = exec.Command(filepath.Join(bin, "escapeplugin"), "stay", "victim")
	w.victim.Dir = "/"
	w.victim.Env = []string{"SECRET=" + w.canary}
	w.victim.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if os.Getuid() == 0 {
		w.victim.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(w.uid), Gid: uint32(w.uid)}
	}
	if err := w.victim.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.victim.Process.Kill(); w.victim.Wait() })
	w.signals = make(chan os.Signal, 1)
	signal.Notify(w.signals, harmless)
	t.Cleanup(func() { signal.Stop(w.signals) })
}

// shmKey is the name of the host's segment of shared memory.
const shmKey = 0x70726973

// shareMemory makes a segment of shared memory that all processes of the host may attach, and a
// file in /dev/shm.
func (w *world) shareMemory(t *testing.T) {
	t.Helper()
	id, err := unix.SysvShmGet(shmKey, 4096, unix.IPC_CREAT|0o666)
	if err != nil {
		t.Logf("no shared memory on this machine: %v", err)
		return
	}
	t.Cleanup(func() { unix.SysvShmCtl(id, unix.IPC_RMID, nil) })
	path := w.shmFile()
	if err := os.WriteFile(path, []byte(w.canary), 0o666); err != nil {
		t.Logf("no file in shared memory on this machine: %v", err)
		return
	}
	t.Cleanup(func() { os.Remove(path) })
}

func (w *world) shmFile() string { return "/dev/shm/" + filepath.Base(w.base) }

// unharmed fails the test if anything outside of the sandbox was reached, changed, ended or
// signalled.
func (w *world) unharmed(t *testing.T) {
	t.Helper()
	for name, want := range map[string]string{
		"work-other/secret.txt": w.canary + "\n", "outside/secret.txt": w.canary + "\n", "home/.ssh/id_ed25519": w.canary + "\n", "secrets/token": w.token(),
	} {
		if text, err := os.ReadFile(w.path(name)); err != nil || string(text) != want {
			t.Errorf("%s holds %q now, %v", name, text, err)
		}
	}
	for dir, want := range map[string]string{"work-other": "secret.txt", "outside": "secret.txt service.sock", "home": ".local .ssh", "home/.ssh": "id_ed25519", "secrets": "token"} {
		var names []string
		entries, err := os.ReadDir(w.path(dir))
		for _, entry := range entries {
			names = append(names, entry.Name())
		}
		if got := strings.Join(names, " "); err != nil || got != want {
			t.Errorf("in %s there is %q now, %v; want %q", dir, got, err, want)
		}
	}
	for _, address := range w.visits.list() {
		if !slices.Contains(w.excused, address) {
			t.Errorf("the service of the host at %s was reached", address)
		}
	}
	select {
	case s := <-w.signals:
		t.Errorf("the signal %v came from somewhere", s)
	default:
	}
	if err := w.victim.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("a process of the same user is gone: %v", err)
	}
}
