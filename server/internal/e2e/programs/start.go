package programs

import (
	"bufio"
	"io"
	"os/exec"
)

// Start starts a server and returns the first line that it prints: a server of this repository
// prints one line when it is ready. Start blocks until then. The line is empty if the server exits
// without one. exited is closed when the process has ended. The caller sets Stderr, checks the
// line, and ends the process. Start uses Stdout itself, and discards everything after the line.
func Start(cmd *exec.Cmd) (line string, exited <-chan struct{}, err error) {
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	first, ended := make(chan string, 1), make(chan struct{})
	go func() { // ends with the process
		defer close(ended)
		line, _ := bufio.NewReader(stdout).ReadString('\n')
		first <- line
		_, _ = io.Copy(io.Discard, stdout)
		_ = cmd.Wait()
	}()
	return <-first, ended, nil
}
