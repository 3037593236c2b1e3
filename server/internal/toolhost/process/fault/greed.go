package fault

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"syscall"
)

// mostForks bounds a fork bomb in case the limit of processes does not work.
const mostForks = 200

// eat allocates memory in steps that a watchdog can see, and keeps it.
func eat(bytes int) {
	debug.SetGCPercent(-1)
	const step = 1 << 20
	var kept [][]byte
	for ; bytes > 0; bytes -= step {
		page := make([]byte, step)
		for i := 0; i < len(page); i += 4096 {
			page[i] = 1
		}
		kept = append(kept, page)
	}
	go func() {
		sleep()
		runtime.KeepAlive(kept)
	}()
}

// fork starts processes that sleep, and returns their number and the reason why it stopped.
func fork(number int) (int, error) {
	for i := range min(number, mostForks) {
		cmd := exec.Command("/bin/sleep", "3600")
		if err := cmd.Start(); err != nil {
			return i, err
		}
		_ = cmd.Process.Release()
	}
	return min(number, mostForks), nil
}

// open opens files, closes them again, and returns their number and the reason why it stopped.
func open(number int) (int, error) {
	var held []*os.File
	defer func() {
		for _, file := range held {
			_ = file.Close()
		}
	}()
	for range number {
		file, err := os.Open(os.DevNull)
		if err != nil {
			return len(held), err
		}
		held = append(held, file)
	}
	return len(held), nil
}

// leak opens files and leaves them open, and returns their number and the reason why it stopped.
func leak(number int) (int, error) {
	for i := range number {
		if _, err := syscall.Open(os.DevNull, syscall.O_RDONLY|syscall.O_CLOEXEC, 0); err != nil { // no finalizer finds it
			return i, err
		}
	}
	return number, nil
}

// write writes a file.
func write(bytes int) (int, error) {
	file, err := os.Create(filepath.Join(os.TempDir(), "large"))
	if err != nil {
		return 0, err
	}
	defer file.Close()
	written := 0
	for block := make([]byte, 64<<10); written < bytes; {
		n, err := file.Write(block)
		written += n
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

// burn uses two processors until ctx ends.
func burn(ctx context.Context) error {
	for range 2 {
		go func() {
			for ctx.Err() == nil {
			}
		}()
	}
	<-ctx.Done()
	return ctx.Err()
}
