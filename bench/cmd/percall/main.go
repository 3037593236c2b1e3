// Command percall is the benchmark's tool as one process per call. It reads the request from
// standard input and writes the answer to standard output.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/toolhost/toolhost/bench/internal/work"
)

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer) error {
	request, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	answer, err := work.Do(request)
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, answer)
	return err
}
