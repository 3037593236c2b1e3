//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// stayArgument makes this program wait and do nothing.
const stayArgument = "stay"

// longest limits how long the processes of a test run, also if the test is killed.
const longest = time.Minute

// stay waits. The argument identifies the process in the list of processes.
func stay(string) { time.Sleep(longest) }

// swap exchanges two names repeatedly, and returns how often. Its arguments are the number of
// renameat2, the time in milliseconds, and the names.
func swap(ctx context.Context, with []string) (string, error) {
	const currentFolder, exchange = -100, 2 // AT_FDCWD, RENAME_EXCHANGE
	number, err := strconv.Atoi(with[0])
	if err != nil {
		return "", err
	}
	ms, err := strconv.Atoi(with[1])
	if err != nil {
		return "", err
	}
	a, err := syscall.BytePtrFromString(with[2])
	if err != nil {
		return "", err
	}
	b, err := syscall.BytePtrFromString(with[3])
	if err != nil {
		return "", err
	}
	here, times := currentFolder, 0
	for end := time.Now().Add(time.Duration(ms) * time.Millisecond); time.Now().Before(end) && ctx.Err() == nil; times++ {
		_, _, errno := syscall.Syscall6(uintptr(number), uintptr(here), uintptr(unsafe.Pointer(a)), uintptr(here),
			uintptr(unsafe.Pointer(b)), exchange, 0)
		if errno != 0 {
			return "", errno
		}
	}
	return fmt.Sprint(times), nil
}

// hunt repeatedly tries to read a file for a time in milliseconds, and to write to it if the third
// argument is "write". It returns all that it read, each text once.
func hunt(ctx context.Context, with []string) (string, error) {
	ms, err := strconv.Atoi(with[1])
	if err != nil {
		return "", err
	}
	seen := map[string]bool{}
	for end := time.Now().Add(time.Duration(ms) * time.Millisecond); time.Now().Before(end) && ctx.Err() == nil; {
		if text, err := read(with[0]); err == nil {
			seen[text] = true
		}
		if with[2] == "write" && write(with[0]) == nil {
			seen["written"] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(seen)), "\n"), nil
}

// linger starts a process in another process group and session, without a toolhost marker in its
// environment, and does not wait for it.
func linger(mark string) (string, error) {
	cmd := exec.Command("/proc/self/exe", stayArgument, mark)
	cmd.Env = []string{"NOTHING=1"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	return "left " + strconv.Itoa(cmd.Process.Pid), cmd.Process.Release()
}

// eat uses up an amount of a resource and returns how much it got.
func eat(what, howMuch string) (string, error) {
	most, err := strconv.Atoi(howMuch)
	if err != nil {
		return "", err
	}
	got := 0
	switch what {
	case "memory": // MiB
		var held [][]byte
		for ; got < most; got++ {
			block := make([]byte, 1<<20)
			for i := 0; i < len(block); i += 4096 {
				block[i] = 1
			}
			held = append(held, block)
		}
		return fmt.Sprintf("got %d", len(held)), nil
	case "processes":
		var all []*exec.Cmd
		defer func() {
			for _, cmd := range all {
				_ = cmd.Process.Kill() // the process may have exited
				_ = cmd.Wait()
			}
		}()
		for ; err == nil && got < most; got++ {
			cmd := exec.Command("/bin/sleep", strconv.Itoa(int(longest.Seconds())))
			if err = cmd.Start(); err == nil {
				all = append(all, cmd)
			}
		}
		return fmt.Sprintf("got %d", len(all)), err
	case "files":
		var all []*os.File
		defer func() {
			for _, file := range all {
				_ = file.Close() // nothing was written
			}
		}()
		for ; err == nil && got < most; got++ {
			var file *os.File
			if file, err = os.Open(os.DevNull); err == nil {
				all = append(all, file)
			}
		}
		return fmt.Sprintf("got %d", len(all)), err
	}
	return eatDisk(what, most)
}

// eatDisk writes an amount in MiB to a new file.
func eatDisk(path string, most int) (string, error) {
	file, err := os.Create(path)
	if err != nil {
		return "", err
	}
	got, block := 0, make([]byte, 1<<20)
	for ; err == nil && got < most; got++ {
		_, err = file.Write(block)
	}
	if err != nil {
		got--
	}
	return fmt.Sprintf("got %d", got), errors.Join(err, file.Close(), os.Remove(path))
}
