package author

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	sdks "github.com/toolhost/toolhost"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/scaffold"
)

// upgradeFlags are the flags of `new --upgrade`.
type upgradeFlags struct {
	dir                   string
	online, dryRun, force bool
	json                  bool
}

// upgradedView is the result of `new --upgrade`, as -o json prints it.
type upgradedView struct {
	Folder string       `json:"folder"`
	SDKs   []sdkView    `json:"sdks"`
	Files  []changeView `json:"files"`
	DryRun bool         `json:"dry_run"`
}

type sdkView struct {
	Language string `json:"language"`
	From     string `json:"from"`
	To       string `json:"to"`
}

type changeView struct {
	File   string `json:"file"`
	Action string `json:"action"`
}

// upgrade moves an existing repository to the SDK of this toolhost.
func upgrade(ctx context.Context, p cli.Process, flags upgradeFlags) error {
	dir, err := filepath.Abs(flags.dir)
	if err != nil {
		return fmt.Errorf("looking for the current folder: %w", err)
	}
	u, err := scaffold.OpenUpgrade(dir, sdks.Sources(), flags.online)
	if errors.Is(err, scaffold.ErrUnknown) || errors.Is(err, scaffold.ErrNewer) || errors.Is(err, scaffold.ErrLinked) {
		return cli.Usage("%w", err)
	} else if err != nil {
		return err
	}
	if !flags.dryRun {
		if !flags.force {
			if err := committed(ctx, dir, u.Overwrites()); err != nil {
				return err
			}
		}
		if err := u.Apply(); err != nil {
			return err
		}
	}
	if flags.json {
		return cli.WriteJSON(p.Stdout, viewUpgrade(dir, u, flags.dryRun))
	}
	return showUpgrade(p, flags, u)
}

// committed returns an error unless git can restore the present content of all these files.
//
// A repository from elsewhere could name a command as fsmonitor in its settings, or have a hook for
// changes of the index. So git runs with the settings of the repository, but without its fsmonitor
// and its hooks. A file that the author told git to regard as unchanged does not count as
// committed.
func committed(ctx context.Context, dir string, files []string) error {
	if len(files) == 0 {
		return nil
	}
	git := func(args ...string) (string, error) {
		args = append([]string{"-C", dir, "-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull, "--no-optional-locks", "--literal-pathspecs"}, args...)
		out, err := exec.CommandContext(ctx, "git", append(append(args, "-z", "--"), files...)...).Output()
		if err != nil {
			err = cli.Usage("git cannot tell whether it has the files that --upgrade overwrites, such as %s: %w; "+
				"commit the repository with git first, or use --force", files[0], explained(err))
		}
		return string(out), err
	}
	out, err := git("status", "--porcelain", "--ignored", "--untracked-files=all")
	if err != nil {
		return err
	}
	if entry, _, changed := strings.Cut(out, "\x00"); changed && len(entry) >= len("XY f") {
		return cli.Usage("--upgrade would overwrite %s, whose content is not committed; commit it first, or use --force", entry[len("XY "):])
	}
	if out, err = git("ls-files", "-v"); err != nil {
		return err
	}
	for entry := range strings.SplitSeq(out, "\x00") {
		if len(entry) > len("H ") && entry[0] != 'H' { // a small letter: assume-unchanged; S: skip-worktree
			return cli.Usage("--upgrade would overwrite %s, whose changes git ignores (see git update-index); undo that and commit it first, or use --force", entry[len("H "):])
		}
	}
	return nil
}

// explained returns the text that a failed command printed as the reason. If the command printed
// nothing, it returns err.
func explained(err error) error {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		if output := strings.TrimSpace(string(exit.Stderr)); output != "" {
			return errors.New(output)
		}
	}
	return err
}

func viewUpgrade(dir string, u *scaffold.Upgrade, dryRun bool) upgradedView {
	view := upgradedView{Folder: dir, SDKs: []sdkView{}, Files: []changeView{}, DryRun: dryRun}
	for _, sdk := range u.SDKs {
		view.SDKs = append(view.SDKs, sdkView(sdk))
	}
	for _, c := range u.Changes {
		view.Files = append(view.Files, changeView{c.File, string(c.Action)})
	}
	return view
}

func showUpgrade(p cli.Process, flags upgradeFlags, u *scaffold.Upgrade) error {
	var text strings.Builder
	for _, sdk := range u.SDKs {
		switch {
		case len(u.Changes) == 0:
			fmt.Fprintf(&text, "the repository has the %s SDK %s already\n", sdk.Language, sdk.To)
		case flags.dryRun:
			fmt.Fprintf(&text, "would upgrade the %s SDK from %s to %s:\n", sdk.Language, sdk.From, sdk.To)
		default:
			fmt.Fprintf(&text, "upgraded the %s SDK from %s to %s:\n", sdk.Language, sdk.From, sdk.To)
		}
	}
	var lines []string
	for _, c := range u.Changes {
		lines = append(lines, fmt.Sprintf("  %-7s %s", c.Action, c.File))
	}
	for _, line := range briefly(lines) {
		text.WriteString(line + "\n")
	}
	if len(u.Changes) > 0 && !flags.dryRun {
		fmt.Fprintf(&text, "next: %s\n", strings.Join(following(flags.dir, u), " && "))
	}
	_, err := fmt.Fprint(p.Out(), text.String())
	return err
}

// following returns the commands that test an upgraded repository. `go mod tidy` adds the checksums
// of a fetched SDK, and removes those of versions that the SDK no longer needs.
func following(dir string, u *scaffold.Upgrade) (commands []string) {
	if dir != "." {
		commands = append(commands, "cd "+cli.ShellWord(dir))
	}
	for _, sdk := range u.SDKs {
		if sdk.Language == "go" {
			commands = append(commands, "go mod tidy")
		}
	}
	return append(commands, "make test")
}
