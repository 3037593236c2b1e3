//go:build linux && (amd64 || arm64)

package sandbox_test

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// probe makes the attempts in its arguments, one after the other, each in words separated by
// blanks. It prints a line with the result or the error of each.
func probe(attempts []string) int {
	for _, attempt := range attempts {
		words := strings.Fields(attempt)
		answer, err := try(words[0], words[1:])
		if err != nil {
			answer = "error: " + err.Error()
		}
		fmt.Println(strings.ReplaceAll(strings.TrimSpace(answer), "\n", "|"))
	}
	return 0
}

func try(what string, args []string) (string, error) {
	switch what {
	case "read":
		text, err := os.ReadFile(args[0])
		return string(text), err
	case "list":
		entries, err := os.ReadDir(args[0])
		names := []string{}
		for _, entry := range entries {
			names = append(names, entry.Name())
		}
		return strings.Join(names, " "), err
	case "write":
		return "written", os.WriteFile(args[0], []byte("written by the probe"), 0o644)
	case "rename":
		return "renamed", os.Rename(args[0], args[1])
	case "link":
		return "linked", os.Link(args[0], args[1])
	case "remove":
		return "removed", os.Remove(args[0])
	case "dial":
		conn, err := net.DialTimeout(args[0], args[1], 10*time.Second)
		if err == nil {
			err = conn.Close()
		}
		return "connected", err
	case "loopback":
		return "answered", loopback()
	case "signal":
		pid, err := strconv.Atoi(args[0])
		if err == nil {
			err = syscall.Kill(pid, 0) // signal 0 has no effect
		}
		return "may be signalled", err
	case "status":
		return status(args[0])
	case "call":
		return call(args)
	}
	return "", fmt.Errorf("there is no attempt %q", what)
}

// loopback connects to itself.
func loopback() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		return err
	}
	return conn.Close()
}

// status returns a field of /proc/self/status.
func status(field string) (string, error) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, field+":"); ok {
			return strings.TrimSpace(value), nil
		}
	}
	return "", fmt.Errorf("there is no field %q", field)
}

// call makes a system call by its number, with numeric arguments. "here" is an address that can be
// read and written.
func call(args []string) (string, error) {
	var words [7]uintptr
	var buffer [64]uint64
	for i, arg := range args {
		if arg == "here" {
			words[i] = uintptr(unsafe.Pointer(&buffer[0]))
			continue
		}
		v, err := strconv.ParseUint(arg, 0, 64)
		if err != nil {
			return "", err
		}
		words[i] = uintptr(v)
	}
	_, _, errno := unix.RawSyscall6(words[0], words[1], words[2], words[3], words[4], words[5], words[6])
	return errno.Error(), nil
}
