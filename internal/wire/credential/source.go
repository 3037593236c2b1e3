package credential

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// Source produces tokens. A Cache never calls a source concurrently.
type Source interface {
	// Fetch returns a token. Its errors must not contain one.
	Fetch(ctx context.Context) (Token, error)
	// Changed reports whether Fetch would return another token than the last time. It is cheap, and
	// false if only Fetch can tell.
	Changed() bool
}

// Static returns a source of one token.
func Static(value string) Source {
	return Func(func(context.Context) (Token, error) { return Token{Value: value}, nil })
}

// Func is a function of the program that returns a token.
type Func func(context.Context) (Token, error)

// Fetch implements Source.
func (f Func) Fetch(ctx context.Context) (Token, error) {
	token, err := f(ctx)
	if err != nil {
		return Token{}, err
	}
	return token.checked()
}

// Changed implements Source.
func (Func) Changed() bool { return false }

// File returns a source that reads the file at path again when the file has changed.
func File(path string) Source { return &file{path: path} }

type file struct {
	path  string
	mutex sync.Mutex
	read  version // of the file when it was read
}

// Fetch implements Source.
func (f *file) Fetch(context.Context) (Token, error) {
	now := versionOf(f.path) // before the file is read, so that a later change counts
	text, err := readBounded(f.path)
	if err != nil {
		return Token{}, fmt.Errorf("reading the token file: %w", err)
	}
	token, err := parse(text)
	if err != nil {
		return Token{}, fmt.Errorf("the token file %s cannot be used: %w", f.path, err)
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.read = now
	return token, nil
}

// Changed implements Source.
func (f *file) Changed() bool {
	now := versionOf(f.path)
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return now != f.read && now != version{}
}

// OthersCanRead reports whether the mode of the token file at path lets other users of the machine
// read it. It is false for a file that does not exist.
func OthersCanRead(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().Perm()&0o044 != 0
}

// readBounded reads a small file.
func readBounded(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err == nil && len(text) > maxFileBytes {
		err = fmt.Errorf("%s has more than %d bytes", path, maxFileBytes)
	}
	return text, err
}

// maxFileBytes bounds the files that this package reads. A bundle of all public CAs has about 250
// KB.
const maxFileBytes = 4 << 20

// version tells two contents of a file apart without reading them. The zero version means that the
// file cannot be read.
type version struct {
	device, inode uint64
	size          int64
	changed       time.Time
}

func versionOf(path string) version {
	info, err := os.Stat(path)
	if err != nil {
		return version{}
	}
	v := version{size: info.Size(), changed: info.ModTime().Round(0)}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		v.device, v.inode = uint64(stat.Dev), uint64(stat.Ino)
	}
	return v
}

// commandLimit is the maximum duration of a token command. It leaves a person time to confirm a
// login, and ends before RPCs without a deadline seem to hang forever.
const commandLimit = time.Minute

// Command returns a source that runs a line of shell and reads the token from its standard output.
// The command gets no standard input. Its standard error is that of the program, because an error
// of this package must not contain what a command prints.
func Command(line string) Source {
	return Func(func(ctx context.Context) (Token, error) {
		ctx, cancel := context.WithTimeoutCause(ctx, commandLimit, fmt.Errorf("it took more than %s", commandLimit))
		defer cancel()
		var out bytes.Buffer
		cmd := exec.CommandContext(ctx, "/bin/sh", "-c", line)
		cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &limited{to: &out}, os.Stderr, time.Second
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		// The shell may have started other processes, which would keep the pipe open.
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
		if err := cmd.Run(); err != nil {
			if cause := context.Cause(ctx); cause != nil {
				err = cause
			}
			return Token{}, fmt.Errorf("the token command failed: %w", err)
		}
		token, err := parse(out.Bytes())
		if err != nil {
			return Token{}, fmt.Errorf("the output of the token command cannot be used: %w", err)
		}
		return token, nil
	})
}

// limited refuses output beyond maxFileBytes, so that a wrong command cannot fill the memory.
type limited struct{ to *bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	if l.to.Len()+len(p) > maxFileBytes {
		return 0, errors.New("the command prints too much")
	}
	return l.to.Write(p)
}
