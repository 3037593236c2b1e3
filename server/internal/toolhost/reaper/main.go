package reaper

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/toolhost/toolhost/internal/store/filelock"
	"github.com/toolhost/toolhost/server/internal/toolhost/limits"
	"github.com/toolhost/toolhost/server/internal/toolhost/proc"
)

// ready is the reaper process's first line, which shows a Handle that it started the right program.
const ready = "toolhost reaper 1"

// patience bounds the repeated kill of processes that start others as fast as they die.
const patience = 10 * time.Second

// Main is the reaper process: a program calls it for a hidden command and exits with its result. It
// communicates on standard input and output, which a Handle holds. It returns when toolhost is gone
// and nothing of it is left. Main ignores signals that a terminal or a service manager sends to all
// processes, because the reaper process has to end last.
func Main() int {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE)
	if _, err := fmt.Println(ready); err != nil {
		return 1
	}
	if err := follow(os.Stdin).clean(); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// follow returns the last complete state after the other end is closed. A toolhost that was killed
// while writing leaves an incomplete one.
func follow(r io.Reader) state {
	var last state
	for dec := json.NewDecoder(r); ; {
		var next state
		if err := dec.Decode(&next); err != nil {
			return last
		}
		last = next
	}
}

// clean kills first and removes files afterwards, because a living process makes new files.
func (s state) clean() error {
	var errs []error
	for _, leader := range s.Groups {
		errs = append(errs, proc.KillGroup(leader))
	}
	if s.Token != "" {
		_, err := proc.KillMarked(s.Token+"/", patience)
		errs = append(errs, err)
	}
	errs = append(errs, limits.RemoveGroups(s.Cgroups))
	for _, socket := range s.Sockets {
		errs = append(errs, removeSocket(socket))
	}
	return errors.Join(append(errs, s.RunDir.remove())...)
}

// socketPatience bounds how long removeSocket waits for those who make a socket in the same folder.
const socketPatience = 2 * time.Second

// removeSocket removes a socket while it holds the lock of its folder, as listeners do that make
// one there (package address). Otherwise the next toolhost could replace the socket between the
// look at it and its removal, and would lose its own.
func removeSocket(socket *file) error {
	folder, err := os.Open(filepath.Dir(socket.Path))
	if err != nil {
		return nil // it is gone with its folder
	}
	defer folder.Close()
	ctx, cancel := context.WithTimeout(context.Background(), socketPatience)
	defer cancel()
	if filelock.Wait(ctx, folder) != nil {
		return fmt.Errorf("the folder of %s is locked, so the socket stays", socket.Path)
	}
	return socket.remove()
}
