package secrets

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"unicode/utf8"
)

// largest bounds the length of a value in bytes. A key with its certificates fits, and a wrong path
// does no harm.
const largest = 64 << 10

// fetch reads a value from its source.
func (s *Store) fetch(source Source) (string, error) {
	value, where, remedy := "", "", ""
	if source.Env != "" {
		where = "the variable " + source.Env + " of toolhost's environment"
		remedy = "start toolhost with it"
		if value = s.getenv(source.Env); value == "" {
			return "", fmt.Errorf("the secret %q is missing: %s is not set or empty; %s", source.Name, where, remedy)
		}
	} else {
		where = "the file " + source.File
		remedy = "write the value into it"
		text, err := readFile(source.File)
		if err != nil {
			return "", fmt.Errorf("the secret %q is missing: %s cannot be read: %w; %s", source.Name, where, reason(err), remedy)
		}
		value = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
	}
	switch {
	case value == "":
		return "", fmt.Errorf("the secret %q is missing: %s is empty; %s", source.Name, where, remedy)
	case len(value) > largest:
		return "", fmt.Errorf("the secret %q cannot be used: what %s holds is larger than %d bytes", source.Name, where, largest)
	case !utf8.ValidString(value):
		return "", fmt.Errorf("the secret %q cannot be used: what %s holds is no UTF-8 text; encode it, in base64 for example", source.Name, where)
	}
	return value, nil
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
