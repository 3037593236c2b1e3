package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

const (
	// maxEdited is the largest text that EditText takes from an editor, in bytes. toolhost accepts no
	// larger arguments.
	maxEdited = 64 << 20
	// editorGrace is how long an editor may take to end after SIGTERM.
	editorGrace = 2 * time.Second
)

// ErrTooLong means that a text is too long to be edited at the prompt.
var ErrTooLong = errors.New("the text is too long to be edited here; set $VISUAL or $EDITOR")

// EditorCommand returns the command line of the person's editor: $VISUAL, otherwise $EDITOR. Empty
// means that the person has chosen none.
func EditorCommand(getenv func(string) string) string {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if command := strings.TrimSpace(getenv(name)); command != "" {
			return command
		}
	}
	return ""
}

// EditText lets a person edit a text in an editor, and returns the edited text. command is the
// editor's command line. name is the name of the temporary file, which only the user can read, in a
// folder that only the user can enter. EditText removes both, and restores the state of the
// terminal. If ctx ends, EditText ends the editor. An error means that the editor failed or that
// its text cannot be read.
func EditText(ctx context.Context, p cli.Process, command, name, text string) (edited string, err error) {
	folder, err := os.MkdirTemp("", "agentd-edit-") // with the permissions 0700
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	path := filepath.Join(folder, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return "", err
	}
	if file, ok := p.Stdin.(*os.File); ok {
		if before, err := term.GetState(int(file.Fd())); err == nil {
			defer func() { _ = term.Restore(int(file.Fd()), before) }() // an editor may leave raw mode behind
		}
	}
	cmd := editorProcess(ctx, command, path)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.Stdin, p.Stdout, p.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = editorGrace
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("running the editor %q: %w", command, err)
	}
	return readEdited(path)
}

// editorProcess returns the process of an editor. A shell reads the command line, as the person
// wrote it for a shell, and becomes the editor, so that a signal reaches the editor.
func editorProcess(ctx context.Context, command, path string) *exec.Cmd {
	become := "exec "
	if first, _, _ := strings.Cut(command, " "); strings.Contains(first, "=") {
		become = "exec env " // the command line begins with a variable
	}
	return exec.CommandContext(ctx, "/bin/sh", "-c", become+command+` "$1"`, "sh", path)
}

// readEdited returns the text that an editor left. An editor may have replaced the file.
func readEdited(path string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return "", fmt.Errorf("reading the edited text: %w", err)
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("the editor left no regular file")
	}
	file, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("reading the edited text: %w", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxEdited+1))
	if err != nil {
		return "", fmt.Errorf("reading the edited text: %w", err)
	}
	if len(data) > maxEdited {
		return "", fmt.Errorf("the edited text has more than %d MiB", maxEdited>>20)
	}
	return string(data), nil
}
