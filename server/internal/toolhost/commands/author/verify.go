package author

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/serve"
	"github.com/toolhost/toolhost/server/internal/toolhost/conformance"
	"github.com/toolhost/toolhost/tool"
)

// verifyFlags holds the flags of `verify`.
type verifyFlags struct {
	config, tool, arguments string
	plugins                 []string
	timeout                 time.Duration
	strict, verbose         bool
	format                  cli.Format
}

// NewVerifyCommand returns the command `verify`.
func NewVerifyCommand(p cli.Process) *cobra.Command {
	var flags verifyFlags
	cmd := &cobra.Command{
		Use:   "verify PATH|NAME",
		Short: "Check that a plugin in any language follows the contract, and advise on its tools",
		Long: "Verify starts a plugin several times, in the same sandbox as `toolhost serve`, and exchanges frames of the plugin\n" +
			"contract with it. For an MCP server, it examines the session and the tools. For each check it prints whether the plugin passes, the place in the contract, and how to fix a\n" +
			"failure. PATH is an executable or a folder with a plugin.yaml; NAME is the name of a plugin in a folder of --plugins or of\n" +
			"the configuration. A running toolhost is not involved.\n\n" +
			"Verify calls tools in an empty workspace, which it removes afterwards: repeatedly those that are read_only or idempotent,\n" +
			"with their examples or with arguments made from their schemas; once each example of other tools. It calls a dangerous\n" +
			"tool only if --tool names it, and never a tool that needs secrets.\n\n" +
			"Exit codes: 0 no check failed; 1 a check failed, or with --strict there is advice; 2 and 3 as for all commands. With\n" +
			"-o json it prints an object; docs/verify.md describes it and all checks.",
		Example: "  toolhost verify bin/plugins/calculator\n  toolhost verify ./my-plugin --tool convert --arguments '{\"amount\":1}'",
		Args:    cli.Arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := flags.check(cmd.Flags().Changed("timeout")); err != nil {
				return err
			}
			return flags.verify(cmd.Context(), p, args[0])
		},
	}
	f := cmd.Flags()
	f.StringVar(&flags.tool, "tool", "", "call this `TOOL` alone, whatever it declares, as often as the checks need")
	f.StringVar(&flags.arguments, "arguments", "", "what to call it with, a `JSON` object (default: its examples)")
	f.DurationVar(&flags.timeout, "timeout", 0, "the `TIME` that each start and each answer may take (default: answers 10s, starts launch.timeout of toolhost.yaml)")
	f.BoolVar(&flags.strict, "strict", false, "advice is a failure, too")
	f.BoolVarP(&flags.verbose, "verbose", "v", false, "show the checks that passed or were not applicable, too")
	f.StringVar(&flags.config, "config", "", "configuration `FILE`, for what the plugin is granted (default: as for serve)")
	f.StringArrayVar(&flags.plugins, "plugins", nil, "folder `DIR` in which to look for NAME; may be given more than once")
	flags.format.AddFlag(f)
	return cmd
}

func (f *verifyFlags) check(timed bool) error {
	switch {
	case timed && f.timeout <= 0:
		return cli.Usage("--timeout: %s is not positive; leave it out for what is usual", f.timeout)
	case f.arguments != "" && f.tool == "":
		return cli.Usage("--arguments: say with --tool which tool they are for")
	case f.arguments != "" && !json.Valid([]byte(f.arguments)):
		return cli.Usage("--arguments: %q is no JSON", f.arguments)
	}
	return nil
}

// verify checks the plugin at a path or with a name, and prints the report.
func (f *verifyFlags) verify(ctx context.Context, p cli.Process, what string) (err error) {
	lab, err := f.openLab(ctx, p, what)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lab.close()) }()
	report, err := lab.verify(ctx)
	if failure, ok := errors.AsType[*tool.Error](err); ok && failure.Kind == tool.KindNotFound {
		return cli.Usage("--tool: %s", failure.Message)
	} else if err != nil {
		return err
	}
	if f.format.JSON() {
		err = cli.WriteJSON(p.Stdout, verdictOf(lab.path, report, f.strict))
	} else {
		err = newVerifyText(p, f.verbose).write(lab.path, report)
	}
	if err == nil && !acceptable(report, f.strict) {
		err = &cli.ExitError{Code: cli.ExitToolError}
	}
	return err
}

// acceptable reports whether a plugin passes.
func acceptable(r *conformance.Report, strict bool) bool {
	return r.Count(conformance.Fail) == 0 && (!strict || r.Count(conformance.Advice) == 0)
}

// lab holds what verify needs for one plugin: folders with a copy of the plugin, and a probe that
// runs and cleans up its processes.
type lab struct {
	path   string // path of the plugin
	temp   *serve.Scratch
	Probe  *serve.Probe
	known  *catalog.Catalog
	plugin *catalog.Plugin
	config conformance.Config
}

// verify examines the plugin as what it is: a plugin of the contract, or an MCP server.
func (l *lab) verify(ctx context.Context) (*conformance.Report, error) {
	if l.plugin.Manifest == nil || l.plugin.Manifest.MCP == nil {
		return conformance.Verify(ctx, l.config)
	}
	starts := 0
	return conformance.VerifyMCP(ctx, conformance.MCPConfig{
		Plugin: l.plugin.Info.Name, Isolation: l.config.Isolation, Tool: l.config.Tool, Arguments: l.config.Arguments,
		Timeout: l.config.Timeout, StartTimeout: l.config.StartTimeout,
		Launch: func(ctx context.Context) (conformance.MCPServer, error) {
			starts++
			cfg := l.config.Process
			cfg.Instance = fmt.Sprintf("verify-%d", starts)
			server, err := l.Probe.LaunchMCP(ctx, l.plugin, cfg)
			if err != nil {
				return nil, err // not a nil *serve.MCPServer, which is no nil interface
			}
			return server, nil
		},
	})
}

// openLab finds the plugin, copies it as serve does, and returns how to run it.
func (f *verifyFlags) openLab(ctx context.Context, p cli.Process, what string) (l *lab, err error) {
	l = &lab{}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.close())
		}
	}()
	named, err := f.options(p, nil)
	if err != nil {
		return l, err
	}
	if l.path, err = findPluginFile(what, named.Folders); err != nil {
		return l, err
	}
	if l.temp, err = serve.MakeScratch(); err != nil {
		return l, err
	}
	for _, dir := range []string{"plugins", "state", "workspace"} {
		if err := os.Mkdir(filepath.Join(l.temp.Path, dir), 0o700); err != nil {
			return l, fmt.Errorf("making a folder to work in: %w", err)
		}
	}
	options, err := f.options(p, l)
	if err != nil {
		return l, err
	}
	if l.Probe, err = serve.OpenProbe(ctx, options, named); err != nil {
		return l, err
	}
	plugin, err := l.load(ctx)
	if err != nil {
		return l, err
	}
	if plugin.Manifest.Remote() {
		return l, cli.Usage("%s is an MCP server at a URL, which verify cannot start; `toolhost why` shows whether it answers", l.path)
	}
	l.plugin = plugin
	l.config = conformance.Config{
		Process: l.Probe.Process(plugin, "verify"), Workspace: options.Workspace.Folder,
		Tool: f.tool, Arguments: json.RawMessage(f.arguments), Timeout: f.timeout,
		StartTimeout: cmp.Or(f.timeout, options.Launch.Timeout),
		Isolation:    string(options.Plugin(plugin.Info.Name).Isolation),
	}
	if plugin.Manifest != nil {
		l.config.ManifestName = plugin.Manifest.Name
	}
	// the workspace is empty, and close removes it
	l.config.Process.Sandbox.WorkspaceAccess = tool.AccessWrite
	return l, nil
}

// options returns the options that serve would have. If l is not nil, the folders are those of the
// lab.
func (f *verifyFlags) options(p cli.Process, l *lab) (serve.Options, error) {
	flags := serve.Flags{Config: f.config, Plugins: f.plugins}
	if l != nil {
		flags.Plugins = []string{filepath.Join(l.temp.Path, "plugins")}
		flags.StateDir, flags.Workspace = filepath.Join(l.temp.Path, "state"), filepath.Join(l.temp.Path, "workspace")
		// No server listens at this address. It is not the socket of a running toolhost, because
		// the reaper would remove that.
		flags.Listen = "unix://" + filepath.Join(l.temp.Path, "none.sock")
	}
	options, err := flags.Options(p.Getenv)
	if l == nil && len(options.Folders) == 0 {
		flags.Plugins = []string{"."} // a path needs no plugin folder
		return flags.Options(p.Getenv)
	}
	return options, err
}

// findPluginFile returns the absolute path of a plugin.
func findPluginFile(what string, folders []string) (string, error) {
	if _, err := os.Stat(what); err == nil || strings.ContainsRune(what, filepath.Separator) {
		if err := serve.CheckPlugin(what, "build it, and name what was built"); err != nil {
			return "", err
		}
		return filepath.Abs(what)
	}
	for _, dir := range folders {
		path := filepath.Join(dir, what)
		if _, err := os.Stat(path); err == nil {
			return path, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	where := "no folder of plugins is known; give the path, or --plugins DIR"
	if len(folders) > 0 {
		where = "it is not in " + strings.Join(folders, ", ") + "; give the path, or --plugins DIR"
	}
	return "", cli.Usage("there is no plugin %q: %s", what, where)
}

// load copies the plugin with a catalog that does not read its description.
func (l *lab) load(ctx context.Context) (*catalog.Plugin, error) {
	folder := filepath.Join(l.temp.Path, "plugins")
	if err := os.Symlink(l.path, filepath.Join(folder, filepath.Base(l.path))); err != nil {
		return nil, err
	}
	known, err := catalog.Open(catalog.Config{
		Folders: []string{folder}, StateDir: filepath.Join(l.temp.Path, "state"),
		Describe: func(ctx context.Context, _ *catalog.Plugin) (tool.Description, error) {
			<-ctx.Done() // the plugin stays pending until the catalog is closed
			return tool.Description{}, context.Cause(ctx)
		},
		DescribeTimeout: 24 * time.Hour,
	})
	if err != nil {
		return nil, err
	}
	l.known = known
	if err := known.Load(ctx); err != nil {
		return nil, err
	}
	found := known.Snapshot().Plugins()
	switch {
	case len(found) == 0:
		return nil, cli.Usage("%s is no plugin; a plugin is an executable, or a folder with a plugin.yaml", l.path)
	case !found[0].Pending():
		return nil, cli.Usage("%s cannot be used: %s", l.path, found[0].Problem)
	}
	return found[0], nil
}

func (l *lab) close() error {
	var errs []error
	if l.known != nil {
		errs = append(errs, l.known.Close())
	}
	if l.Probe != nil {
		l.Probe.Close()
	}
	if l.temp != nil {
		errs = append(errs, l.temp.Remove())
	}
	return errors.Join(errs...)
}
