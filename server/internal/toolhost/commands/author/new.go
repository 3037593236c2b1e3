package author

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	sdks "github.com/toolhost/toolhost"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/scaffold"
)

// sdkVariable is the environment variable with the SDK checkout to link, if --sdk is not set.
const sdkVariable = "TOOLHOST_SDK"

// NewNewCommand returns the command `new`.
func NewNewCommand(p cli.Process) *cobra.Command {
	var format cli.Format
	var language, dir, sdk string
	var caller, offline, online, toUpgrade bool
	var flags upgradeFlags
	cmd := &cobra.Command{
		Use:   "new NAME --lang go|python|typescript [--caller] | new --upgrade [DIR]",
		Short: "Create a plugin or a caller: a small repository with a tool or a client, its test and what builds them",
		Long: "New writes a repository for a plugin of that name: a tool that works, its test, a Makefile that builds, tests, checks\n" +
			"and installs it, a CI job, and a README. With --caller it writes a program that lists and calls the tools of a running\n" +
			"toolhost. It overwrites nothing: the folder must be new or empty.\n\n" +
			sdkOrigin() + "\nNew contacts no registry. To work on the SDK at the same time, link a\n" +
			"checkout of toolhost with --sdk or " + sdkVariable + ".\n\n" +
			"New --upgrade moves the repository in DIR (default: the current folder) to the SDK of this toolhost. It changes the\n" +
			"files that name the SDK's version or contain the SDK, and nothing else: go.mod and go.sum, requirements.txt, or\n" +
			"package.json and package-lock.json, and third_party. It refuses to overwrite what git has not committed.\n\n" +
			"With -o json it prints an object: plugin or caller, language, folder and files. With --upgrade: folder, sdks,\n" +
			"files and dry_run.",
		Example: "  toolhost new weather --lang go\n  toolhost new weather --lang python --dir tools/weather --sdk ~/toolhost\n" +
			"  toolhost new call-tools --caller --lang typescript\n" +
			"  toolhost new --upgrade --dry-run weather",
		Args: cli.Arguments(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if toUpgrade {
				if len(args) > 0 && dir != "" {
					return cli.Usage("--dir and the argument %q both name a folder; use one of them", args[0])
				}
				flags.dir = cmp.Or(append(args, dir, ".")...)
				flags.online, flags.json = online || scaffold.Published() && !offline, format.JSON()
				return upgrade(cmd.Context(), p, flags)
			}
			if flags.dryRun || flags.force {
				return cli.Usage("--dry-run and --force need --upgrade")
			}
			if len(args) == 0 {
				return cli.Usage("the NAME of the plugin or caller is missing; to upgrade an existing repository, use --upgrade")
			}
			if !offline && !online && sdk == "" {
				sdk = p.Getenv(sdkVariable)
			}
			return begin(p, scaffold.Config{
				Name: args[0], Language: language, Dir: dir, Sources: sdks.Sources(), Caller: caller,
				Checkout: sdk, Online: sdk == "" && (online || scaffold.Published() && !offline),
			}, format.JSON())
		},
	}
	cmd.Flags().StringVar(&language, "lang", "", "the `LANGUAGE` to write it in: "+strings.Join(scaffold.Languages(), ", "))
	cmd.Flags().BoolVar(&caller, "caller", false, "write a program that calls tools, instead of a plugin")
	cmd.Flags().StringVar(&dir, "dir", "", "the folder `DIR` to write (default: one of that NAME, here)")
	cmd.Flags().StringVar(&sdk, "sdk", "", "`PATH` of a checkout of toolhost whose SDK is linked instead of copied (default: "+sdkVariable+")")
	cmd.Flags().BoolVar(&offline, "offline", false, "put the SDK into the repository, so that no registry needs to have it")
	cmd.Flags().BoolVar(&online, "online", false, "name the SDK's version in the registry of the language, from which the build fetches it")
	cmd.Flags().BoolVar(&toUpgrade, "upgrade", false, "move an existing repository to the SDK of this toolhost")
	cmd.Flags().BoolVar(&flags.dryRun, "dry-run", false, "with --upgrade: show which files would change, and change none")
	cmd.Flags().BoolVar(&flags.force, "force", false, "with --upgrade: also overwrite files that git has not committed")
	cmd.MarkFlagsMutuallyExclusive("offline", "online", "sdk")
	cmd.MarkFlagsMutuallyExclusive("upgrade", "lang")
	cmd.MarkFlagsMutuallyExclusive("upgrade", "caller")
	cmd.MarkFlagsMutuallyExclusive("upgrade", "sdk")
	format.AddFlag(cmd.Flags())
	_ = cmd.RegisterFlagCompletionFunc("lang", cobra.FixedCompletions(scaffold.Languages(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// sdkOrigin returns the sentences of the help that say from where a repository takes the SDK.
func sdkOrigin() string {
	if scaffold.Published() {
		return "The repository names this toolhost's version of the SDK, which its build fetches from the registry of the language. With\n" +
			"--offline, its folder third_party contains the SDK."
	}
	return "The repository contains the SDK of this toolhost in its folder third_party, because the registries of the languages do\n" +
		"not have this version yet. If they have it by now, --online makes the repository name the version instead."
}

// newView is the result of `new`, as -o json prints it.
type newView struct {
	Plugin   string   `json:"plugin,omitempty"`
	Caller   string   `json:"caller,omitempty"`
	Language string   `json:"language"`
	Folder   string   `json:"folder"`
	Files    []string `json:"files"`
}

func begin(p cli.Process, c scaffold.Config, asJSON bool) error {
	if err := c.CheckName(); err != nil {
		return cli.Usage("%w", err)
	}
	if c.Language == "" {
		return cli.Usage("--lang is missing; name a language: %s", strings.Join(scaffold.Languages(), ", "))
	}
	if err := scaffold.CheckLanguage(c.Language); err != nil {
		return cli.Usage("%w", err)
	}
	shown := cmp.Or(c.Dir, c.Name)
	var err error
	if c.Dir, err = filepath.Abs(shown); err != nil {
		return fmt.Errorf("looking for the current folder: %w", err)
	}
	files, err := scaffold.Write(c)
	if errors.Is(err, scaffold.ErrNotEmpty) || errors.Is(err, scaffold.ErrNoCheckout) {
		return cli.Usage("%w", err)
	} else if err != nil {
		return err
	}
	if asJSON {
		view := newView{Plugin: c.Name, Language: c.Language, Folder: c.Dir, Files: files}
		if c.Caller {
			view.Plugin, view.Caller = "", c.Name
		}
		return cli.WriteJSON(p.Stdout, view)
	}
	_, err = fmt.Fprintf(p.Out(), "created %s: %s\n  %s\nnext: cd %s && make test\n", c.Name, c.Dir, strings.Join(briefly(files), "\n  "), cli.ShellWord(shown))
	return err
}

// briefly returns lines that end with the names of files. One line stands for consecutive files of
// a folder of third_party.
func briefly(files []string) []string {
	var lines []string
	for _, name := range files {
		if before, inside, ok := strings.Cut(name, "third_party/"); ok {
			if folder, _, ok := strings.Cut(inside, "/"); ok {
				name = before + "third_party/" + folder + "/"
			}
		}
		lines = append(lines, name)
	}
	return slices.Compact(lines)
}
