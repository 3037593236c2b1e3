//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// way is one kind of attempt, with its minimal number of arguments.
type way struct {
	least int
	try   func(ctx context.Context, with []string) (string, error)
}

// try makes an attempt and returns its result.
func try(ctx context.Context, what string, with []string) (string, error) {
	ways := map[string]way{
		"read":        {1, func(_ context.Context, with []string) (string, error) { return read(with[0]) }},
		"open":        {1, func(_ context.Context, with []string) (string, error) { return open(with[0], os.O_RDONLY) }},
		"change":      {1, func(_ context.Context, with []string) (string, error) { return open(with[0], os.O_WRONLY) }},
		"list":        {1, func(_ context.Context, with []string) (string, error) { return list(with[0]) }},
		"write":       {1, func(_ context.Context, with []string) (string, error) { return "written", write(with[0]) }},
		"link":        {2, func(_ context.Context, with []string) (string, error) { return "linked", os.Link(with[0], with[1]) }},
		"symlink":     {2, func(_ context.Context, with []string) (string, error) { return "linked", os.Symlink(with[0], with[1]) }},
		"rename":      {2, func(_ context.Context, with []string) (string, error) { return "renamed", os.Rename(with[0], with[1]) }},
		"remove":      {1, func(_ context.Context, with []string) (string, error) { return "removed", os.Remove(with[0]) }},
		"descriptors": {0, func(context.Context, []string) (string, error) { return descriptors() }},
		"environment": {0, func(context.Context, []string) (string, error) { return strings.Join(os.Environ(), "\n"), nil }},
		"dial":        {2, func(ctx context.Context, with []string) (string, error) { return dial(ctx, with[0], with[1]) }},
		"call":        {1, func(_ context.Context, with []string) (string, error) { return call(with) }},
		"signal":      {2, func(_ context.Context, with []string) (string, error) { return signal(with[0], with[1]) }},
		"run":         {1, run},
		"memory":      {2, runInMemory},
		"swap":        {4, swap},
		"hunt":        {3, hunt},
		"linger":      {1, func(_ context.Context, with []string) (string, error) { return linger(with[0]) }},
		"eat":         {2, func(_ context.Context, with []string) (string, error) { return eat(with[0], with[1]) }},
	}
	w, known := ways[what]
	if !known || len(with) < w.least {
		return "", fmt.Errorf("there is no way %q with %d arguments", what, len(with))
	}
	return w.try(ctx, with)
}

// mostRead bounds what is read of a file: some have no end.
const mostRead = 64 << 10

func read(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, mostRead))
	return string(text), err
}

// open opens a file and closes it again. It neither reads nor writes, because that would harm the
// machine or block this process for some files.
func open(path string, flag int) (string, error) {
	file, err := os.OpenFile(path, flag|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return "", err
	}
	return "opened", file.Close()
}

func write(path string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	_, err = file.WriteString("written by the escapeplugin\n")
	return errors.Join(err, file.Close())
}

func list(path string) (string, error) {
	entries, err := os.ReadDir(path)
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = entry.Name()
	}
	return strings.Join(names, "\n"), err
}

// descriptors returns this process's open descriptors.
func descriptors() (string, error) {
	const folder = "/proc/self/fd"
	entries, err := os.ReadDir(folder)
	var open []string
	for _, entry := range entries {
		if target, err := os.Readlink(folder + "/" + entry.Name()); err == nil {
			open = append(open, entry.Name()+" "+target)
		}
	}
	return strings.Join(open, "\n"), err
}

// run runs a program and returns its output.
func run(ctx context.Context, argv []string) (string, error) {
	const patience = 10 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	return string(out), err
}
