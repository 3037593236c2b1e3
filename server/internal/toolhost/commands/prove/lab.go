package prove

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/child"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/serve"
)

const (
	pluginName     = "prove"
	agentdProgram  = "agentd"
	agentdJournal  = "runs.db"
	configOfServer = `# The command kills the plugin much more often than it may crash elsewhere.
defaults:
  backoff: {initial: 1ms, max: 20ms}
  quarantine: {crashes: never}
`
)

// lab is a toolhost, and an agentd if there is one, with all their files in one folder. One
// goroutine uses it, and the callers use its clients.
type lab struct {
	folder  string
	scratch *serve.Scratch
	program string // this one
	agent   string // that of agentd; empty: there is none
	plugin  string // the folder of the plugin; empty: it is a copy of this program

	toolhost, agentd *child.Child // nil: it does not run
	tools            *client.Client
	agents           *client.AgentClient // nil: there is none
}

// path returns the path of a file in the folder.
func (l *lab) path(names ...string) string {
	return filepath.Join(append([]string{l.folder}, names...)...)
}

func (l *lab) address(program string) string { return "unix://" + l.path("run", program) }

// work returns the path of a file in the workspace.
func (l *lab) work(names ...string) string {
	return l.path(append([]string{"work"}, names...)...)
}

// openLab makes the folder and starts the servers. The caller must call close. plugin is the folder
// of a plugin, or empty for that of this program.
func openLab(ctx context.Context, plugin string) (*lab, error) {
	scratch, err := serve.MakeScratch()
	if err != nil {
		return nil, err
	}
	l := &lab{folder: scratch.Path, scratch: scratch, plugin: plugin}
	if err := l.open(ctx); err != nil {
		return nil, errors.Join(err, l.close())
	}
	return l, nil
}

func (l *lab) open(ctx context.Context) (err error) {
	if l.program, err = thisProgram(); err != nil {
		return err
	}
	if agent := filepath.Join(filepath.Dir(l.program), agentdProgram); isProgram(agent) {
		l.agent = agent
	}
	if err := l.write(); err != nil {
		return fmt.Errorf("making a folder to work in: %w", err)
	}
	if l.tools, err = client.Dial(l.address("toolhost"), client.IgnoreEnvironment()); err != nil {
		return err
	}
	if l.agent != "" {
		if l.agents, err = client.DialAgent(l.address(agentdProgram), client.IgnoreEnvironment()); err != nil {
			return err
		}
	}
	return l.start(ctx)
}

func thisProgram() (string, error) {
	path, err := os.Executable()
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return "", fmt.Errorf("finding this program: %w", err)
	}
	return path, nil
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

// write writes the plugin and the configuration.
func (l *lab) write() error {
	for _, dir := range []string{l.path("run"), l.path("home"), l.path("plugins"), l.work(drafts), l.work(effects), l.work(halted), l.work(freed)} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	if err := l.writePlugin(l.path("plugins", pluginName)); err != nil {
		return err
	}
	models := "model: " + string(unchecked) + "\nmodels:\n"
	for _, of := range []countTool{unchecked, checked} {
		models += fmt.Sprintf("  %s: {provider: scripted, model: %s}\n", of, l.path(string(of)+".yaml"))
		if err := os.WriteFile(l.path(string(of)+".yaml"), []byte(of.script()), 0o600); err != nil {
			return err
		}
	}
	return errors.Join(
		os.WriteFile(l.path("toolhost.yaml"), []byte(configOfServer), 0o600),
		os.WriteFile(l.path("agentd.yaml"), []byte(models), 0o600),
	)
}

// writePlugin makes the folder of the plugin: a manifest, and a copy of this program. A link would
// lead out of the folder.
func (l *lab) writePlugin(dir string) error {
	if l.plugin != "" {
		target, err := filepath.Abs(l.plugin)
		if err != nil {
			return err
		}
		return os.Symlink(target, dir)
	}
	return copyPlugin(l.program, dir, counterCommand)
}

// copyPlugin makes the folder of a plugin that is a copy of a program with arguments.
func copyPlugin(program, dir string, arguments ...string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	if err := copyProgram(program, filepath.Join(dir, "counter")); err != nil {
		return err
	}
	manifest, _ := json.Marshal(map[string]any{"command": append([]string{"./counter"}, arguments...)}) // texts
	return os.WriteFile(filepath.Join(dir, "plugin.yaml"), manifest, 0o600)
}

func copyProgram(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o700)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// start starts the servers that do not run.
func (l *lab) start(ctx context.Context) (err error) {
	if l.toolhost == nil {
		if l.toolhost, err = l.launch(ctx, l.program, "serve", "--config", l.path("toolhost.yaml"), "--plugins", l.path("plugins"),
			"--listen", l.address("toolhost"), "--state", l.path("state"), "--workspace", l.work(), "--settle", "20s", "--log-level", "error"); err != nil {
			return err
		}
	}
	if l.agentd == nil && l.agent != "" {
		l.agentd, err = l.launch(ctx, l.agent, "serve", "--config", l.path("agentd.yaml"), "--toolhost", l.address("toolhost"),
			"--listen", l.address(agentdProgram), "--journal", l.path(agentdJournal), "--log-level", "error")
	}
	return err
}

// launch starts a server whose home is in the folder.
func (l *lab) launch(ctx context.Context, program string, args ...string) (*child.Child, error) {
	return child.Start(ctx, command(l.path("home"), program, args...))
}

// command returns a command without the settings and keys of the environment.
func command(home, program string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir()}
	return cmd
}

// kill kills the victims, and reports whether it killed a process.
func (l *lab) kill(ctx context.Context, v victim) (killed bool) {
	var processes []int
	if v.includes(thePlugin) {
		processes = plugins(ctx, l.tools)
	}
	if v.includes(theToolhost) {
		l.toolhost.Kill()
		l.toolhost, killed = nil, true
	}
	for _, pid := range processes {
		killed = syscall.Kill(pid, syscall.SIGKILL) == nil || killed
	}
	if v.includes(theAgentd) && l.agentd != nil {
		l.agentd.Kill()
		l.agentd, killed = nil, true
	}
	return killed
}

// plugins returns the processes of the plugin at a toolhost.
func plugins(ctx context.Context, tools *client.Client) (pids []int) {
	instances, _ := tools.Admin().Instances(ctx, pluginName) // without an answer, none is known
	for i := range instances {
		if pid := instances[i].PID; pid > 0 {
			pids = append(pids, pid)
		}
	}
	return pids
}

// receipts returns the receipts of each call of a session.
func (l *lab) receipts(session string) (map[string][]string, error) {
	return receipts(l.work(effects), session)
}

func receipts(folder, session string) (map[string][]string, error) {
	files, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	found := map[string][]string{}
	for _, file := range files {
		parts := strings.Split(file.Name(), separator)
		if len(parts) < 3 || parts[0] != session {
			continue
		}
		receipt := parts[2]
		if len(parts) > 3 { // a place
			text, err := os.ReadFile(filepath.Join(folder, file.Name()))
			if err != nil {
				return nil, err
			}
			if receipt = string(text); receipt == "" {
				continue // it is sealed
			}
		}
		found[parts[1]] = append(found[parts[1]], receipt)
	}
	return found, nil
}

// stop stops the servers.
func (l *lab) stop() {
	for _, c := range []*child.Child{l.agentd, l.toolhost} {
		if c != nil {
			c.Stop()
		}
	}
	l.agentd, l.toolhost = nil, nil
}

// close stops the servers and removes the folder. It may be called after keep.
func (l *lab) close() error {
	l.stop()
	if l.agents != nil {
		_ = l.agents.Close() // nothing is lost: all calls have ended
	}
	if l.tools != nil {
		_ = l.tools.Close()
	}
	return l.scratch.Remove()
}

// keep stops the servers and gives the folder a name that no later command removes.
func (l *lab) keep() (string, error) {
	l.stop()
	return keepFolder(l.folder)
}

func keepFolder(folder string) (string, error) {
	kept := filepath.Join(filepath.Dir(folder), strings.Replace(filepath.Base(folder), "scratch", "prove", 1))
	return kept, os.Rename(folder, kept)
}
