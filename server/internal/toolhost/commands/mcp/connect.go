package mcp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/operate"
	"github.com/toolhost/toolhost/server/internal/toolhost/mcp/clientfile"
	"github.com/toolhost/toolhost/server/internal/trust"
	"github.com/toolhost/toolhost/tool"
)

const connectHelp = `Connect writes into the file of an MCP client that the client starts ` + "`toolhost mcp serve`" + `. Without CLIENT, it lists the
clients, their files, and which of them start toolhost.

The entry has the path of this toolhost, the address or the target that this command finds, and the flags that choose tools.
Everything else in the file stays byte for byte as it is, comments included. The earlier file is stored in the state folder,
where only you can read it. Connect again to change the entry; what you added to it stays.

--remove removes the entry. If the file has not changed since, it becomes what it was before. --dry-run shows what would
change. An entry that starts something else is changed only with --replace. The exit code is 7 for a file that another user
owns or can change.`

const connectExample = `  toolhost mcp connect
  toolhost mcp connect claude --dry-run
  toolhost mcp connect codex --tag files --dangerous=false
  toolhost mcp connect claude --remove`

// connector is the command `mcp connect`.
type connector struct {
	process                          cli.Process
	conn                             operate.Connection
	offered                          profile
	format                           cli.Format
	name                             string
	project, remove, dryRun, replace bool
}

func newConnectCommand(p cli.Process) *cobra.Command {
	c := &connector{process: p, conn: operate.Connection{Process: p}}
	cmd := &cobra.Command{
		Use:       "connect [CLIENT]",
		Short:     "Make an MCP client start `toolhost mcp serve`",
		Long:      connectHelp,
		Example:   connectExample,
		Args:      cli.Arguments(0, 1),
		ValidArgs: clientfile.Names(),
		RunE: func(cmd *cobra.Command, args []string) error {
			err := c.run(cmd.Context(), args)
			if _, ok := errors.AsType[*trust.Untrusted](err); ok {
				err = &cli.ExitError{Code: cli.ExitUntrusted, Err: err}
			}
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&c.name, "as", cli.Toolhost, "the `NAME` of the entry, for more than one")
	f.BoolVar(&c.project, "project", false, "change the client's file in the current folder, which others may share, instead of yours")
	f.BoolVar(&c.remove, "remove", false, "remove the entry")
	f.BoolVar(&c.dryRun, "dry-run", false, "show what would change, and change nothing")
	f.BoolVar(&c.replace, "replace", false, "replace an entry of the same name that starts something else")
	c.offered.addFlags(f)
	c.conn.AddFlag(f)
	c.format.AddFlag(f)
	return cmd
}

func (c *connector) run(ctx context.Context, args []string) error {
	if err := c.offered.check(); err != nil {
		return err
	}
	if err := tool.CheckName(c.name); err != nil {
		return cli.Usage("--as: %w", err)
	}
	if c.remove && c.replace {
		return cli.Usage("--remove and --replace exclude each other")
	}
	place := clientfile.Place{Getenv: c.process.Getenv}
	var err error
	if place.Program, err = program(); err != nil {
		return err
	}
	if c.project {
		if place.Project, err = os.Getwd(); err != nil {
			return fmt.Errorf("finding the current folder: %w", err)
		}
	}
	if len(args) == 0 {
		if c.remove || c.dryRun || c.replace {
			return cli.Usage("CLIENT is missing; use %s", strings.Join(clientfile.Names(), ", "))
		}
		return c.list(place)
	}
	if place.Client, err = clientfile.Find(args[0]); err == nil {
		_, err = place.Path()
	}
	if err != nil {
		return cli.Usage("%w", err)
	}
	return c.change(ctx, place)
}

// program returns the path of toolhost for an entry: the one in PATH if it is the running program,
// because a package manager that installs another version may keep only that.
func program() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding the path of toolhost: %w", err)
	}
	found, err := exec.LookPath(cli.Toolhost)
	if err != nil {
		return self, nil
	}
	this, err := os.Stat(self)
	other, otherErr := os.Stat(found)
	if err == nil && otherErr == nil && os.SameFile(this, other) {
		return found, nil
	}
	return self, nil
}

// changed is the result of `mcp connect CLIENT`, as -o json prints it.
type changed struct {
	Client  string   `json:"client"`
	File    string   `json:"file"`
	Name    string   `json:"name"`
	Change  string   `json:"change"` // added, updated, replaced, removed, restored or nothing
	DryRun  bool     `json:"dry_run"`
	Diff    string   `json:"diff"`
	Backup  string   `json:"backup"`  // empty: there was no file, or it was restored
	Command []string `json:"command"` // of the entry; null if it was removed
	Keeps   []string `json:"keeps"`   // the members of the entry that connect does not write and keeps; null: none
}

// change adds, changes or removes the entry of a client.
func (c *connector) change(ctx context.Context, place clientfile.Place) error {
	done := changed{Client: place.Client.Name, Name: c.name, DryRun: c.dryRun}
	var change *clientfile.Change
	var err error
	if c.remove {
		change, err = place.Disconnect(c.name)
	} else {
		reach, remote, findErr := c.conn.Arguments()
		if findErr != nil {
			return findErr
		}
		if remote {
			fmt.Fprintln(c.process.Err(), "note: clients give a server few variables; if the environment has the credentials of this toolhost, store them with `toolhost target add`, and use --target")
		}
		done.Command = slices.Concat([]string{place.Program, "mcp", "serve"}, reach, c.offered.arguments())
		change, err = place.Connect(c.name, done.Command[1:], c.replace)
	}
	switch {
	case errors.Is(err, clientfile.ErrTaken) && c.remove:
		return cli.Usage("%w, so it stays", err)
	case errors.Is(err, clientfile.ErrTaken):
		return cli.Usage("%w; use --replace to replace it, or --as to add another one", err)
	case err != nil:
		return err
	}
	done.File, done.Change, done.Diff, done.Keeps = change.File, change.Done, change.Diff, change.Keeps
	if !c.dryRun {
		if done.Backup, err = change.Apply(); err != nil {
			return err
		}
	}
	if c.format.JSON() {
		return cli.WriteJSON(c.process.Stdout, done)
	}
	if _, err := fmt.Fprint(c.process.Out(), done.text(place.Client.Title)); err != nil || c.dryRun || c.remove {
		return err
	}
	c.tellTools(ctx, place.Client.Title)
	return nil
}

// text says for people what was done.
func (c *changed) text(title string) string {
	file := cli.OneLine(c.File)
	keeps := ""
	if len(c.Keeps) > 0 {
		keeps = "the entry keeps " + someNames(c.Keeps) + ": look at them in the file\n"
	}
	switch {
	case c.Change == clientfile.Nothing && c.Command == nil:
		return fmt.Sprintf("%s has no entry %s; nothing changed\n", file, c.Name)
	case c.Change == clientfile.Nothing:
		return fmt.Sprintf("%s starts this toolhost already, by %s in %s; nothing changed\n", title, c.Name, file) + keeps
	case c.DryRun:
		return c.Diff + keeps
	}
	text := fmt.Sprintf("%s the entry %s in %s\n", c.Change, c.Name, file)
	if c.Change == clientfile.Restored {
		text = fmt.Sprintf("removed the entry %s: %s is what it was before\n", c.Name, file)
	}
	if c.Backup != "" {
		text += "the file before is in " + cli.OneLine(c.Backup) + "\n"
	}
	return text + keeps + "restart " + title + " if it runs\n"
}

// someNames returns names of members for people. The file chooses them, and how many there are.
func someNames(names []string) string {
	const most, longest = 10, 40
	var shown []string
	for _, name := range names[:min(len(names), most)] {
		shown = append(shown, cli.Clip(cli.OneLine(name), longest))
	}
	if more := len(names) - most; more > 0 {
		shown = append(shown, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(shown, ", ")
}

// tellTools says how many tools the client gets, because a person may have chosen none by mistake,
// or no toolhost may run. Neither is an error: the file is written.
func (c *connector) tellTools(ctx context.Context, title string) {
	ctx, cancel := context.WithTimeout(ctx, reachTime)
	defer cancel()
	err := c.conn.With(func(toolhost *client.Client) error {
		query := c.offered.filter.Query()
		query.Session = c.offered.session
		infos, err := toolhost.ListTools(ctx, query)
		if err == nil {
			infos = slices.DeleteFunc(infos, func(i tool.Info) bool { return i.UnavailableReason != "" })
			fmt.Fprintf(c.process.Out(), "%s gets %s\n", title, cli.Count(len(infos), "tool"))
		}
		if err == nil && len(infos) == 0 {
			fmt.Fprintln(c.process.Err(), "note: no tool is what the flags say; `toolhost tools` lists all")
		}
		return err
	})
	if err != nil {
		fmt.Fprintf(c.process.Err(), "note: %s gets no tools now: %s\n", title, cli.OneLine(err.Error()))
	}
}

// listed is a client in the list, as -o json prints it.
type listed struct {
	Client  string             `json:"client"`
	Title   string             `json:"title"`
	File    string             `json:"file"`   // empty: there is none in a project
	Exists  bool               `json:"exists"` // the file
	Entries []clientfile.Entry `json:"entries"`
	Problem string             `json:"problem"` // why the file cannot be read; empty: it can
}

// list prints the clients, and which of them start toolhost.
func (c *connector) list(place clientfile.Place) error {
	var all []listed
	var rows [][]string
	for _, each := range clientfile.Clients() {
		place.Client = each
		l := listed{Client: each.Name, Title: each.Title, Entries: []clientfile.Entry{}}
		var err error
		if l.File, err = place.Path(); err == nil {
			var entries []clientfile.Entry
			entries, l.Exists, err = place.Entries()
			l.Entries = append(l.Entries, entries...)
		}
		if err != nil {
			l.Problem = err.Error()
		}
		all = append(all, l)
		rows = append(rows, []string{l.Client, l.Title, cli.Dash(l.File), l.state()})
	}
	if c.format.JSON() {
		return cli.WriteJSON(c.process.Stdout, all)
	}
	return cli.WriteTable(c.process.Stdout, c.process.Screen(), []string{"CLIENT", "NAME", "FILE", "TOOLHOST"}, rows)
}

func (l *listed) state() string {
	var names []string
	for _, e := range l.Entries {
		name := e.Name
		if len(e.Keeps) > 0 {
			name += " with " + someNames(e.Keeps)
		}
		names = append(names, name)
	}
	switch {
	case l.Problem != "":
		return l.Problem
	case len(names) > 0:
		return "connected as " + strings.Join(names, ", ")
	case !l.Exists:
		return "no file"
	}
	return "not connected"
}
