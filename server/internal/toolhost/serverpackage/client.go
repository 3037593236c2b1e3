package serverpackage

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/toolhost/toolhost/server/internal/toolhost/process"
	"github.com/toolhost/toolhost/server/internal/toolhost/sandbox"
)

// A client of a registry handles what authors wrote, and some of its features run it: npm clones
// repositories with the git program that a repository names, and pip builds what a wheel names by a
// URL. So a client runs in a sandbox. It writes only into the folders of the installation, reads
// the settings for its registry, and has the network. The guards keep it from starting programs, so
// that nothing of an author runs there either, and what the client leaves is read as if an author
// had written it.

// guards are loaded before npm and pip. They make every attempt to start another program fail.
var (
	//go:embed guard.cjs
	npmGuard []byte
	//go:embed guard.py
	pipGuard string
)

// guardMark begins the line on standard error that a guard writes.
const guardMark = "toolhost: the installation may not run "

// client starts the client of a registry.
type client struct {
	runDir string   // for files of the processes
	dir    string   // the working folder, which is empty at first
	env    []string // besides that of a plugin
	read   []string // the operator's files with settings
	write  []string // folders
}

// newClient makes the folders of a client in scratch. The client may write dir.
func newClient(scratch, dir string, s settings) (*client, error) {
	c := &client{runDir: filepath.Join(scratch, "r"), dir: filepath.Join(scratch, "work"), read: s.read, env: s.env}
	c.write = []string{dir, c.dir}
	return c, errors.Join(os.Mkdir(c.runDir, 0o700), os.Mkdir(c.dir, 0o700))
}

// run runs a program in the sandbox, in a folder. It returns the first line of its standard output
// and the last lines of its standard error.
func (c *client) run(ctx context.Context, dir, program string, args ...string) (stdout, stderr string, err error) {
	path, err := exec.LookPath(program)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return "", "", err
	}
	started, err := process.StartBare(ctx, process.Config{
		Plugin: "installation", Instance: "installation", Path: path, Args: args, Dir: dir, RunDir: c.runDir,
		Sandbox: sandbox.Config{
			Mode: sandbox.ModeOn, Network: true, Read: c.read, Write: c.write,
			Least: [][]string{{sandbox.Files, sandbox.Landlock}, {sandbox.Privileges}, {sandbox.Syscalls}},
		},
	}, func(string) []string { return append([]string{"NO_COLOR=1"}, c.env...) })
	if refused, ok := errors.AsType[*sandbox.RefusedError](err); ok {
		return "", "", fmt.Errorf("toolhost installs packages in a sandbox alone, and this machine does not give its layer %s: %s; `toolhost doctor` tells more. "+
			"Install the package on another machine, and add the folder with --folder", refused.Layer.Name, refused.Layer.Note)
	}
	if err != nil {
		return "", "", err
	}
	<-started.Done()
	exit := started.Exit()
	stdout, _, _ = started.FirstLine(context.WithoutCancel(ctx)) // without a line, it is empty
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case exit.Code != 0 || exit.Signal != "":
		err = errors.New(exit.String())
	}
	return stdout, strings.Join(exit.LastStderr, "\n"), err
}

// guarded returns an error if the client wanted to run a program, which only happens for a package
// that is no archive of its registry.
func guarded(stderr string) error {
	_, after, found := strings.Cut(stderr, guardMark)
	if !found {
		return nil
	}
	program, _, _ := strings.Cut(after, "\n")
	return fmt.Errorf("a package needs one that comes from a repository or a URL, or that has to be built: it would run %s; "+
		"toolhost installs archives of the registry alone", strings.TrimSpace(program))
}

// mostRead bounds the files of an installation that toolhost reads, in bytes.
const mostRead = 32 << 20

// readLeft reads a file that a client left in a folder. It follows no link out of the folder.
func readLeft(dir, name string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	file, err := root.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0) // a pipe does not block
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "reading", Path: name, Err: fs.ErrInvalid}
	}
	return readBounded(file)
}

// readLock reads the file of Options.Lock.
func readLock(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readBounded(file)
}

func readBounded(file *os.File) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(file, mostRead+1))
	if err == nil && len(data) > mostRead {
		err = fmt.Errorf("%s has more than %d bytes", file.Name(), mostRead)
	}
	return data, err
}
