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
	"github.com/toolhost/toolhost/internal/cli"
	"github.com/toolhost/toolhost/internal/scaffold"
)

// sdkVariable is the environment variable with the SDK checkout to link, if --sdk is not set.
const sdkVariable = "TOOLHOST_SDK"

// NewNewCommand returns the command `new`.
func NewNewCommand(p cli.Process) *cobra.Command {
	var format cli.Format
	var language, dir, sdk string
	cmd := &cobra.Command{
		Use:   "new NAME --lang go|python|typescript",
		Short: "Begin a plugin: a small repository with a tool, its test and what builds them",
		Long: "New writes a repository for a plugin of that name: a tool that works, its test, a Makefile that builds, tests and\n" +
			"installs it, and a README. It overwrites nothing: the folder must be new or empty.\n" +
			"The SDK is not published yet, so that the repository carries it in its folder third_party: it builds on every machine\n" +
			"that has the language and reaches the language's public packages. To work on the SDK at the same time, link a checkout\n" +
			"of toolhost with --sdk or " + sdkVariable + ".\n" +
			"With -o json it prints an object: plugin, language, folder and files.",
		Example: "  toolhost new weather --lang go\n  toolhost new weather --lang python --dir tools/weather --sdk ~/toolhost",
		Args:    cli.Arguments(1, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			return begin(p, scaffold.Config{
				Name: args[0], Language: language, Dir: dir, Sources: sdks.Sources(), Checkout: cmp.Or(sdk, p.Getenv(sdkVariable)),
			}, format.JSON())
		},
	}
	cmd.Flags().StringVar(&language, "lang", "", "the `LANGUAGE` to write it in: "+strings.Join(scaffold.Languages(), ", "))
	cmd.Flags().StringVar(&dir, "dir", "", "the folder `DIR` to write (default: one of the plugin's name, here)")
	cmd.Flags().StringVar(&sdk, "sdk", "", "`PATH` of a checkout of toolhost whose SDK is linked instead of copied (default: "+sdkVariable+")")
	format.AddFlag(cmd.Flags())
	_ = cmd.RegisterFlagCompletionFunc("lang", cobra.FixedCompletions(scaffold.Languages(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// newView is the result of `new`, as -o json prints it.
type newView struct {
	Plugin   string   `json:"plugin"`
	Language string   `json:"language"`
	Folder   string   `json:"folder"`
	Files    []string `json:"files"`
}

func begin(p cli.Process, c scaffold.Config, asJSON bool) error {
	if err := scaffold.CheckName(c.Name); err != nil {
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
		return cli.WriteJSON(p.Stdout, newView{Plugin: c.Name, Language: c.Language, Folder: c.Dir, Files: files})
	}
	_, err = fmt.Fprintf(p.Out(), "%s is begun: %s\n  %s\nnext: cd %s && make test\n", c.Name, c.Dir, strings.Join(briefly(files), "\n  "), shown)
	return err
}

// briefly returns the names of files. One name stands for all files of a folder of third_party.
func briefly(files []string) []string {
	var lines []string
	for _, name := range files {
		if parts := strings.SplitN(name, "/", 3); parts[0] == "third_party" && len(parts) == 3 {
			name = parts[0] + "/" + parts[1] + "/"
		}
		lines = append(lines, name)
	}
	return slices.Compact(lines)
}
