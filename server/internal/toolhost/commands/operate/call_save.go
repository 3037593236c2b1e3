package operate

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/toolhost/toolhost/server/internal/store/atomicfile"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

// saving is the value of the flags --save and --overwrite. The zero value saves nothing.
//
// The user chooses every path. The name that a tool gives to a file is not used, because the name
// could lead to a file that matters. Without overwrite, saving creates files and never opens one
// that exists, also not through a symbolic link. With overwrite, it replaces the directory entry of
// a regular file or a symbolic link, so a link that a tool left there is replaced and not followed.
type saving struct {
	file      string
	overwrite bool
}

// check returns an error if the first file exists already, or if its folder does not. It runs
// before the call, so that a call is not executed for a result that cannot be saved.
func (s *saving) check() error {
	switch {
	case s.file == "" && s.overwrite:
		return cli.Usage("--overwrite: name the file with --save")
	case s.file == "":
		return nil
	}
	info, err := os.Lstat(s.file)
	switch {
	case errors.Is(err, fs.ErrNotExist) && os.IsPathSeparator(s.file[len(s.file)-1]):
		return cli.Usage("--save: %s is the name of a folder; name a file in it", s.file)
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Stat(filepath.Dir(s.file)); err != nil {
			return cli.Usage("--save: the folder of %s: %w", s.file, err)
		}
		return nil
	case err != nil:
		return cli.Usage("--save: %w", err)
	case info.IsDir():
		return cli.Usage("--save: %s is a folder; name a file in it", s.file)
	case !s.overwrite:
		return cli.Usage("--save: %s exists; name another file, or add --overwrite to replace it", s.file)
	case !replaceable(info):
		return cli.Usage("--save: %s is no regular file; name another file", s.file)
	}
	return nil
}

// replaceable reports whether --overwrite replaces a file. It does not replace a device or a pipe.
func replaceable(info fs.FileInfo) bool {
	return info.Mode().IsRegular() || info.Mode().Type() == fs.ModeSymlink
}

// write saves the images and files of a result, and reports each on standard error. read writes an
// artifact, in which toolhost stores an image or file that is too large for a result.
func (s *saving) write(p cli.Process, content []tool.Content, read func(io.Writer, *tool.Artifact) error) error {
	if s.file == "" {
		return nil
	}
	saved := 0
	for _, c := range content {
		name, mediaType, size, fill := c.Name, c.MediaType, uint64(len(c.Data)), func(w io.Writer) error {
			_, err := w.Write(c.Data)
			return err
		}
		switch {
		case c.Kind == tool.ContentImage, c.Kind == tool.ContentFile:
		case c.Artifact != nil && (c.Artifact.Name != "" || c.Artifact.Head == ""): // not a text of the result
			name, mediaType, size, fill = c.Artifact.Name, c.Artifact.MediaType, c.Artifact.Size, func(w io.Writer) error { return read(w, c.Artifact) }
		default:
			continue
		}
		saved++
		path := s.path(saved, name)
		if err := s.create(path, fill); err != nil {
			return fmt.Errorf("saving the result: %w", err)
		}
		fmt.Fprintf(p.Err(), "%s: saved %s (%s, %d bytes)\n", cli.Toolhost, path, cli.OneLine(mediaType), size)
	}
	if saved == 0 {
		return &cli.ExitError{Code: cli.ExitToolError, Err: errors.New("the result has no image or file, so --save saved nothing")}
	}
	return nil
}

// plainExtension matches what the user's name may have at its end by the choice of a tool.
var plainExtension = regexp.MustCompile(`^\.[A-Za-z0-9]{1,8}$`)

// path returns the path of the n-th file, counted from 1: out.png, out-2.png, out-3.csv. name is
// the name that the tool gave it. Of that, only the extension of a further file counts.
func (s *saving) path(n int, name string) string {
	if n == 1 {
		return s.file
	}
	extension := filepath.Ext(s.file)
	stem := strings.TrimSuffix(s.file, extension) + "-" + strconv.Itoa(n)
	if own := filepath.Ext(name); plainExtension.MatchString(own) {
		extension = own
	}
	return stem + extension
}

// create creates a file and calls fill to write it. It leaves no new file if that fails.
func (s *saving) create(path string, fill func(io.Writer) error) error {
	if !s.overwrite {
		file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		return finish(file, fill)
	}
	if info, err := os.Lstat(path); err == nil && !replaceable(info) {
		return fmt.Errorf("%s is no regular file", path)
	}
	return atomicfile.Fill(path, 0o600, func(file *os.File) error { return fill(file) })
}

// finish calls fill to write the file, and closes the file. It removes the file if either fails.
func finish(file *os.File, fill func(io.Writer) error) error {
	err := fill(file)
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}
