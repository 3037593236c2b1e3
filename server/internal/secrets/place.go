package secrets

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"
)

// Place is where a value is. One of Env, File and Command is set.
type Place struct {
	Env string // a variable of toolhost's environment
	// The absolute path of a regular file; the end of its last line is not part of the value.
	File string
	// A program with its arguments, which prints the value; see command.go.
	Command []string
	// How long a value that Command printed is used. 0: 5 min.
	Refresh time.Duration
}

// largest bounds the length of a value in bytes. A key with its certificates fits, and a wrong path
// does no harm.
const largest = 64 << 10

// fetch reads a value from its place. A variable and a file are read each time, so that a changed
// value reaches the next call.
func (s *Store) fetch(name, where string, place Place) (string, error) {
	value, from, remedy := "", "", ""
	switch {
	case place.Env != "":
		from, remedy = "the variable "+place.Env+" of toolhost's environment", "start toolhost with it"
		if value = s.getenv(place.Env); value == "" {
			return "", fmt.Errorf("the secret %q is missing: %s is not set or empty; %s", name, from, remedy)
		}
	case place.File != "":
		from, remedy = "the file "+place.File, "write the value into it"
		text, err := readFile(place.File)
		if err != nil {
			return "", fmt.Errorf("the secret %q is missing: %s cannot be read: %w; %s", name, from, reason(err), remedy)
		}
		value = withoutLineEnd(text)
	default:
		from, remedy = "the output of "+place.Command[0], "run the command as toolhost's user to see why"
		text, err := s.commands.output(name+"\x00"+where, place, s.getenv)
		if err != nil {
			return "", fmt.Errorf("the secret %q is missing: the command %s failed: %w; %s", name, place.Command[0], err, remedy)
		}
		value = withoutLineEnd(text)
	}
	switch {
	case value == "":
		return "", fmt.Errorf("the secret %q is missing: %s is empty; %s", name, from, remedy)
	case len(value) > largest:
		return "", fmt.Errorf("the secret %q cannot be used: what %s holds is larger than %d bytes", name, from, largest)
	case !utf8.ValidString(value):
		return "", fmt.Errorf("the secret %q cannot be used: what %s holds is no UTF-8 text; encode it, in base64 for example", name, from)
	}
	return value, nil
}

func withoutLineEnd(text string) string {
	return strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
}

// readFile reads a regular file, up to one line end and one byte more than the largest value. It
// does not wait for the writer of a pipe.
func readFile(path string) (string, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("it is no regular file")
	}
	text, err := io.ReadAll(io.LimitReader(file, largest+3))
	return string(text), err
}

// reason returns an error without the path, which the message contains already.
func reason(err error) error {
	if inner, ok := errors.AsType[*os.PathError](err); ok {
		return inner.Err
	}
	return err
}
