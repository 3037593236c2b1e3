package prove

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/store/pgcluster"
	"github.com/toolhost/toolhost/server/internal/terminal/child"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/serve"
	"github.com/toolhost/toolhost/tool"
)

// nodes are toolhosts that share a ledger, with all their files in one folder. Their tools have
// their effects in one folder, too, so an effect counts wherever it happens. One goroutine uses it,
// and the callers use the clients.
type nodes struct {
	folder   string
	scratch  *serve.Scratch
	program  string // this one
	database *database
	all      []*node
}

// node is one of the toolhosts.
type node struct {
	home   string       // its folder
	server *child.Child // nil: it does not run
	tools  *client.Client
}

// openNodes makes the folder and starts the servers. The caller must call close.
func openNodes(ctx context.Context, count int) (*nodes, error) {
	if _, err := pgcluster.Find(); err != nil {
		return nil, err
	}
	scratch, err := serve.MakeScratch()
	if err != nil {
		return nil, err
	}
	n := &nodes{folder: scratch.Path, scratch: scratch}
	if err := n.open(ctx, count); err != nil {
		return nil, errors.Join(err, n.close())
	}
	return n, nil
}

func (n *nodes) path(names ...string) string {
	return filepath.Join(append([]string{n.folder}, names...)...)
}

func (n *nodes) open(ctx context.Context, count int) (err error) {
	if n.program, err = thisProgram(); err != nil {
		return err
	}
	for _, name := range []string{drafts, effects, halted, freed} {
		if err := os.MkdirAll(n.path("work", name), 0o700); err != nil {
			return fmt.Errorf("making a folder to work in: %w", err)
		}
	}
	err = errors.Join(os.Mkdir(n.path("run"), 0o700), os.Mkdir(n.path("plugins"), 0o700),
		copyPlugin(n.program, n.path("plugins", pluginName), counterCommand, n.path("work")))
	if err != nil {
		return fmt.Errorf("making a folder to work in: %w", err)
	}
	if n.database, err = openDatabase(ctx, n.path("db")); err != nil {
		return err
	}
	for i := range count {
		one := &node{home: n.path(fmt.Sprintf("toolhost-%d", i+1))}
		if err := os.MkdirAll(filepath.Join(one.home, "work"), 0o700); err != nil {
			return err
		}
		settings := fmt.Sprintf("%srecords: %q\nplugin:\n  %s:\n    sandbox: {write: [%q]}\n", configOfServer, n.database.url(), pluginName, n.path("work"))
		if err := os.WriteFile(one.config(), []byte(settings), 0o600); err != nil {
			return err
		}
		if one.tools, err = client.Dial(n.address(one), client.IgnoreEnvironment()); err != nil {
			return err
		}
		n.all = append(n.all, one)
	}
	return n.start(ctx, n.all...)
}

func (n *node) config() string { return filepath.Join(n.home, "toolhost.yaml") }

func (n *nodes) address(one *node) string {
	return "unix://" + n.path("run", filepath.Base(one.home))
}

// start starts those of the toolhosts that do not run, at the same time.
func (n *nodes) start(ctx context.Context, which ...*node) error {
	var group sync.WaitGroup
	failed := make([]error, len(which))
	for i, one := range which {
		if one.server != nil {
			continue
		}
		group.Go(func() {
			one.server, failed[i] = child.Start(ctx, command(one.home, n.program, "serve", "--config", one.config(), "--plugins", n.path("plugins"),
				"--listen", n.address(one), "--state", filepath.Join(one.home, "state"), "--workspace", filepath.Join(one.home, "work"),
				"--settle", "20s", "--log-level", "error"))
		})
	}
	group.Wait()
	return errors.Join(failed...)
}

// check returns an error if a toolhost has ended by itself.
func (n *nodes) check() error {
	for _, one := range n.all {
		select {
		case <-one.server.Ended():
			return fmt.Errorf("%s has ended by itself: %w\n%s", filepath.Base(one.home), one.server.Err(), one.server.LastWords())
		default:
		}
	}
	return nil
}

func (n *node) kill() {
	n.server.Kill()
	n.server = nil
}

func (n *node) stop() {
	n.server.Stop()
	n.server = nil
}

// killAndDeclare kills a toolhost, and says with `toolhost nodes gone` that it is gone. It takes as
// long as the command looks for a sign of life; its plugins end earlier.
func (n *nodes) killAndDeclare(ctx context.Context, victim *node) error {
	l, err := n.listed(ctx, victim)
	if err != nil {
		return err
	}
	victim.kill()
	_, err = n.toolhost(ctx, victim, "nodes", "gone", l.ID)
	return err
}

// listedNode is a toolhost as `toolhost nodes` lists it.
type listedNode struct{ ID, Folder, State string }

// listed returns what `toolhost nodes` says of a toolhost that is not gone.
func (n *nodes) listed(ctx context.Context, one *node) (listedNode, error) {
	folder, err := os.ReadFile(filepath.Join(one.home, "state", serve.NodeFile))
	if err != nil {
		return listedNode{}, err
	}
	out, err := n.toolhost(ctx, one, "nodes", "-o", "json")
	if err != nil {
		return listedNode{}, err
	}
	var all []listedNode
	if err := json.Unmarshal([]byte(out), &all); err != nil {
		return listedNode{}, fmt.Errorf("reading the list of toolhosts: %w", err)
	}
	for _, l := range all {
		if l.Folder == strings.TrimSpace(string(folder)) && l.State != "gone" {
			return l, nil
		}
	}
	return listedNode{}, fmt.Errorf("`toolhost nodes` does not list %s", filepath.Base(one.home))
}

// toolhost runs a command of this program with the settings of a node.
func (n *nodes) toolhost(ctx context.Context, one *node, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, n.program, append(args, "--config", one.config())...)
	// Tools may write in the folder of a command, so its settings must not be below it.
	cmd.Env, cmd.Dir = command(one.home, n.program).Env, filepath.Join(one.home, "work")
	var failure strings.Builder
	cmd.Stderr = &failure
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("toolhost %s: %w: %s", strings.Join(args, " "), err, cli.OneLine(failure.String()))
	}
	return string(out), nil
}

// settled returns the ids of the calls of a session whose tool said what became of them.
func (n *nodes) settled(ctx context.Context, session string) (map[string]bool, error) {
	found := map[string]bool{}
	for _, one := range n.all {
		query := tool.CallQuery{Session: session, PageSize: 1000}
		for {
			page, err := one.tools.Admin().Calls(ctx, query)
			if err != nil {
				return nil, err
			}
			for _, c := range page.Calls {
				if s := c.Settled; s != nil && (s.Verdict == tool.VerdictHappened || s.Verdict == tool.VerdictDidNotHappen) {
					found[c.CallID] = true
				}
			}
			if query.PageToken = page.NextPageToken; query.PageToken == "" {
				break
			}
		}
	}
	return found, nil
}

// stop stops the servers, the toolhosts first.
func (n *nodes) stop() {
	var group sync.WaitGroup
	for _, one := range n.all {
		if one.server == nil {
			continue
		}
		group.Go(one.stop)
	}
	group.Wait()
	if n.database != nil {
		n.database.stop(syscall.SIGQUIT)
	}
}

// close stops the servers and removes the folder. It may be called after keep.
func (n *nodes) close() error {
	n.stop()
	for _, one := range n.all {
		_ = one.tools.Close() // nothing is lost: all calls have ended
	}
	return n.scratch.Remove()
}

// keep stops the servers and gives the folder a name that no later command removes.
func (n *nodes) keep() (string, error) {
	n.stop()
	return keepFolder(n.folder)
}
