package agentd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/toolhost/toolhost/internal/cli"
)

const (
	// startWait bounds the time until a private toolhost is ready. toolhost reads the descriptions
	// of new plugins first.
	startWait = 30 * time.Second
	// settleWait bounds the time that toolhost waits for the descriptions of its plugins before it
	// is ready. A run lists its tools at once, so a plugin that joins later could be missing.
	settleWait = 20 * time.Second
	// stopWait bounds the time until a private toolhost stops after SIGTERM. It is longer than
	// toolhost's own grace for calls.
	stopWait = 15 * time.Second
	// lastWords bounds the bytes of its standard error that agentd keeps.
	lastWords = 4 << 10
)

// privateToolhost is a toolhost process that agentd starts for one command and stops after it.
type privateToolhost struct {
	addr   string
	folder *privateFolder
	cmd    *exec.Cmd
	stderr *tail
	ready  chan string   // receives its first line
	exited chan struct{} // closed when the process has ended
	err    error         // how the process ended; set before exited is closed
	once   sync.Once
}

// startToolhost starts the toolhost beside this program, with the current folder as workspace. It has
// the plugins that came with it, and those that the user's toolhost.yaml names or `toolhost install` put
// in place. It returns when toolhost is ready. On Linux, the kernel sends toolhost
// SIGTERM when this process dies. records is the folder of the ledger and the artifacts, which the
// caller closes after the toolhost. If records is nil, ledger and artifacts end with the toolhost.
// hidden are files that the plugins must not see, such as the journal: a plugin that can write it
// can approve its own calls.
func startToolhost(ctx context.Context, log *slog.Logger, records *runRecords, hidden ...string) (*privateToolhost, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding the toolhost beside this program: %w", err)
	}
	if self, err = filepath.EvalSymlinks(self); err != nil {
		return nil, fmt.Errorf("finding the toolhost beside this program: %w", err)
	}
	binary := filepath.Join(filepath.Dir(self), toolhostProgram)
	if _, err := os.Stat(binary); err != nil {
		return nil, fmt.Errorf("there is no toolhost beside agentd: %w; start one yourself with `toolhost serve`", err)
	}
	workspace, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("finding the current folder: %w", err)
	}
	folder, err := makePrivateFolder(log)
	if err != nil {
		return nil, err
	}
	p := &privateToolhost{
		addr: "unix://" + folder.socket(), folder: folder,
		stderr: new(tail), ready: make(chan string, 1), exited: make(chan struct{}),
	}
	p.cmd = exec.Command(binary, "serve", "--shipped", "--listen", p.addr,
		"--state", filepath.Join(folder.path, "state"), "--workspace", workspace,
		"--settle", settleWait.String(), "--log-level", "warn")
	if records != nil {
		p.cmd.Args = append(p.cmd.Args, "--records", records.path)
		if records.acceptedLoss != "" {
			p.cmd.Args = append(p.cmd.Args, "--accept-lost-ledger", records.acceptedLoss)
		}
	}
	for _, path := range hidden {
		p.cmd.Args = append(p.cmd.Args, "--hide", path)
	}
	// It may be a link, which the toolhost could not find out.
	if started, err := exec.LookPath(os.Args[0]); err == nil {
		p.cmd.Args = append(p.cmd.Args, "--program", started)
	}
	p.cmd.Env = withoutKeys(os.Environ())
	p.cmd.Stderr = p.stderr
	// Both processes hold the locks. When this process is killed, toolhost still needs the folders
	// in order to stop.
	p.cmd.ExtraFiles = []*os.File{folder.claim}
	if records != nil {
		p.cmd.ExtraFiles = append(p.cmd.ExtraFiles, records.claim)
	}
	p.cmd.SysProcAttr = processAttributes()
	log.Debug("starting a toolhost", "command", p.cmd.String())
	if err := p.launch(ctx); err != nil {
		return nil, errors.Join(err, p.stop())
	}
	return p, nil
}

// withoutKeys removes the keys of models and the tokens for other servers from an environment,
// because toolhost does not use them.
func withoutKeys(env []string) []string {
	var kept []string
	for _, entry := range env {
		if name, _, _ := strings.Cut(entry, "="); !strings.HasSuffix(name, "_API_KEY") && name != "TOOLHOST_TOKEN" && name != "AGENTD_TOKEN" {
			kept = append(kept, entry)
		}
	}
	return kept
}

// launch starts the process and waits until it is ready.
func (p *privateToolhost) launch(ctx context.Context) error {
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	started := make(chan error, 1)
	go p.attend(stdout, started) // ends with the process; stop waits for it
	if err := <-started; err != nil {
		return err
	}
	timer := time.NewTimer(startWait)
	defer timer.Stop()
	select {
	case line := <-p.ready:
		if line != "" {
			return nil
		}
		select {
		case <-p.exited:
			return fmt.Errorf("toolhost ended at once: %w\n%s", p.err, p.stderr)
		case <-timer.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	case <-timer.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	return fmt.Errorf("toolhost was not ready after %s\n%s", startWait, p.stderr)
}

// attend starts the process and waits for its end. The kernel sends the parent-death signal when
// the thread that started the child ends. So this goroutine keeps its thread.
func (p *privateToolhost) attend(stdout io.Reader, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(p.exited)
	if p.err = p.cmd.Start(); p.err != nil {
		started <- fmt.Errorf("starting %s: %w", p.cmd.Path, p.err)
		return
	}
	started <- nil
	lines := bufio.NewReader(stdout)
	line, _ := lines.ReadString('\n')
	p.ready <- line
	_, _ = io.Copy(io.Discard, lines)
	p.err = p.cmd.Wait()
	if p.err == nil {
		p.err = errors.New("exit code 0")
	}
}

// ended returns a channel that is closed when the process has ended; nil if p is nil.
func (p *privateToolhost) ended() <-chan struct{} {
	if p == nil {
		return nil
	}
	return p.exited
}

// lost returns how the process has ended, if stop was not called.
func (p *privateToolhost) lost() error {
	return fmt.Errorf("the toolhost of this command ended: %w, and wrote last: %s", p.err, cli.OneLine(strings.TrimSpace(p.stderr.String())))
}

// stop ends the process, waits for it, and removes its files. It may be called more than once.
func (p *privateToolhost) stop() error {
	var err error
	p.once.Do(func() {
		if p.cmd.Process != nil {
			_ = p.cmd.Process.Signal(syscall.SIGTERM) // the process may have ended already
			timer := time.NewTimer(stopWait)
			defer timer.Stop()
			select {
			case <-p.exited:
			case <-timer.C:
				_ = p.cmd.Process.Kill()
				<-p.exited
			}
		}
		err = p.folder.remove()
	})
	return err
}

// tail keeps the last bytes that are written to it. It is safe for concurrent use.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// Write implements io.Writer. It never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if over := len(t.text) - lastWords; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(p), nil
}

// String returns the kept bytes, indented.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.TrimSpace(string(t.text))
	if text == "" {
		return "  (it said nothing)"
	}
	return "  " + strings.ReplaceAll(text, "\n", "\n  ")
}
