package commands

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/toolhost/toolhost/server/internal/terminal/child"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// settleWait bounds the time that toolhost waits for the descriptions of its plugins before it
// is ready. A run lists its tools at once, so a plugin that joins later could be missing.
const settleWait = 20 * time.Second

// privateToolhost is a toolhost process that agentd starts for one command and stops after it.
type privateToolhost struct {
	addr   string
	folder *privateFolder
	server *child.Child
	once   sync.Once
}

// startToolhost starts the toolhost beside this program, with the current folder as workspace. It
// has the plugins that came with it, and those that the user's toolhost.yaml names or `toolhost
// install` put in place. It returns when toolhost is ready. On Linux, the kernel sends toolhost
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
	addr := "unix://" + folder.socket()
	cmd := exec.Command(binary, "serve", "--shipped", "--listen", addr,
		"--state", filepath.Join(folder.path, "state"), "--workspace", workspace,
		"--settle", settleWait.String(), "--log-level", "warn")
	if records != nil {
		cmd.Args = append(cmd.Args, "--records", records.path)
		if records.acceptedLoss != "" {
			cmd.Args = append(cmd.Args, "--accept-lost-ledger", records.acceptedLoss)
		}
	}
	for _, path := range hidden {
		cmd.Args = append(cmd.Args, "--hide", path)
	}
	// It may be a link, which the toolhost could not find out.
	if started, err := exec.LookPath(os.Args[0]); err == nil {
		cmd.Args = append(cmd.Args, "--program", started)
	}
	cmd.Env = withoutKeys(os.Environ())
	// Both processes hold the locks. When this process is killed, toolhost still needs the folders
	// in order to stop.
	cmd.ExtraFiles = []*os.File{folder.claim}
	if records != nil {
		cmd.ExtraFiles = append(cmd.ExtraFiles, records.claim)
	}
	log.Debug("starting a toolhost", "command", cmd.String())
	server, err := child.Start(ctx, cmd)
	if err != nil {
		return nil, errors.Join(err, folder.remove())
	}
	return &privateToolhost{addr: addr, folder: folder, server: server}, nil
}

// withoutKeys removes the keys of models and the tokens for other servers from an environment,
// because toolhost does not use them, and the socket of systemd, because toolhost is not its
// service.
func withoutKeys(env []string) []string {
	var kept []string
	for _, entry := range env {
		if name, _, _ := strings.Cut(entry, "="); !strings.HasSuffix(name, "_API_KEY") && name != "TOOLHOST_TOKEN" && name != "AGENTD_TOKEN" && name != "NOTIFY_SOCKET" {
			kept = append(kept, entry)
		}
	}
	return kept
}

// ended returns a channel that is closed when the process has ended; nil if p is nil.
func (p *privateToolhost) ended() <-chan struct{} {
	if p == nil {
		return nil
	}
	return p.server.Ended()
}

// lost returns how the process has ended, if stop was not called.
func (p *privateToolhost) lost() error {
	return fmt.Errorf("the toolhost of this command ended: %w, and wrote last: %s", p.server.Err(), cli.OneLine(strings.TrimSpace(p.server.LastWords())))
}

// stop ends the process, waits for it, and removes its files. It may be called more than once.
func (p *privateToolhost) stop() error {
	var err error
	p.once.Do(func() {
		p.server.Stop()
		err = p.folder.remove()
	})
	return err
}
