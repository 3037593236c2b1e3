package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// No process writes to the FIFO, so a tool that opens it like a regular file would never return.
func TestIrregularFilesAreRefused(t *testing.T) {
	w, _ := newWorkspace(t)
	t.Chdir(w.dir) // the path of a socket must be short
	if err := syscall.Mkfifo("pipe", 0o666); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", "sock")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	link(t, "pipe", "pipe-link")
	for path, kind := range map[string]string{"pipe": "fifo", "sock": "socket", "pipe-link": "fifo"} {
		_, err := read(t, w, readInput{Path: path})
		holds(t, err, "no regular file but a "+kind)
		_, err = writeFile(t.Context(), newLanes(), w, writeInput{Path: path, Content: "x"})
		holds(t, err, "no regular file but a "+kind)
		_, err = listDir(t.Context(), w, listInput{Path: path})
		holds(t, err, "no folder but a "+kind)
	}
	got, err := listDir(t.Context(), w, listInput{})
	if err != nil || !strings.Contains(got, "fifo             -  pipe\n") || !strings.Contains(got, "socket           -  sock\n") {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestDevicesAreRefused(t *testing.T) {
	w := openDir(t, "/dev")
	_, err := read(t, w, readInput{Path: "zero"})
	holds(t, err, "no regular file but a device")
}

// Files in /proc have the size 0 but are not empty.
func TestFilesThatSayTheyAreEmptyAreRead(t *testing.T) {
	w := openDir(t, "/proc/self")
	if got, err := read(t, w, readInput{Path: "status"}); err != nil || !strings.Contains(got, "Name:") {
		t.Errorf("got %q, %v", got, err)
	}
}

// Reading part of a sparse file of a terabyte takes little memory and time.
func TestHugeFilesAreNotReadWhole(t *testing.T) {
	w, _ := newWorkspace(t)
	path := filepath.Join(w.dir, "huge.log")
	put(t, path, lines(1, 3000))
	if err := os.Truncate(path, 1<<40); err != nil {
		t.Fatal(err)
	}
	got, err := read(t, w, readInput{Path: "huge.log", Limit: 2})
	if err != nil || got != lines(1, 2)+"\n[lines 1 to 2 of a file of 1099511627776 bytes; it goes on with offset 3]" {
		t.Errorf("got %q, %v", clip(got), err)
	}
}
