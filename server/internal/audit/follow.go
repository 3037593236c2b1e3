package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
)

// Follow is Search over the files of a log, and then over each line that it writes, until ctx ends,
// which is no error, or the log is closed. It reads each new line once, whatever the size of the
// log.
func (l *Log) Follow(ctx context.Context, q Query, found func(Line) error) error {
	err := l.follow(ctx, q, found)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func (l *Log) follow(ctx context.Context, q Query, found func(Line) error) error {
	var f follower
	defer func() { f.close() }()
	for {
		changed, closed := l.Changed(), l.isClosed()
		if f.file == nil {
			parts, err := l.parts()
			if err == nil && len(parts) > 0 {
				if f, err = newFollower(l.path, parts); err == nil {
					err = search(ctx, parts, q, found)
				}
				q.Last = 0
			}
			if err != nil {
				return err
			}
		}
		if err := f.advance(ctx, newFilter(q), found); err != nil {
			return err
		}
		if closed {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil
		}
	}
}

func (l *Log) isClosed() bool {
	l.turn <- struct{}{}
	defer func() { <-l.turn }()
	return l.file == nil
}

// follower reads the new lines of a log.
type follower struct {
	path string // of the log
	file *os.File
	at   int64  // of the file: the end of the last line that was read
	seq  uint64 // of the last line that was read
}

// newFollower follows a log after the lines of its files. The newest one then belongs to it.
func newFollower(path string, parts []part) (follower, error) {
	newest := parts[len(parts)-1]
	f := follower{path, newest.file, newest.size, 0}
	for _, p := range slices.Backward(parts) {
		err := p.backward(func(text []byte, whole bool) error {
			if !whole && p == newest {
				f.at -= int64(len(text)) // it is read when it is whole
				return nil
			}
			if f.seq = numberOf(text); f.seq > 0 {
				return errEnough
			}
			return nil
		})
		if errors.Is(err, errEnough) {
			break
		}
		if err != nil {
			return f, err
		}
	}
	return f, nil
}

// numberOf returns the number of a line; 0: it has none.
func numberOf(text []byte) uint64 {
	var l link
	if json.Unmarshal(text, &l) != nil {
		return 0
	}
	return l.Seq
}

func (f *follower) close() {
	if f.file != nil {
		_ = f.file.Close()
	}
}

// advance reads the lines that the log has got, and follows it to the files in which it goes on.
func (f *follower) advance(ctx context.Context, q *filter, found func(Line) error) error {
	for f.file != nil {
		next, err := f.next() // before the lines are read: a file that the log has left gets no more
		if err == nil {
			err = f.read(ctx, q, found)
		}
		if err != nil || next == nil {
			return errors.Join(err, closed(next))
		}
		f.close()
		f.file, f.at = next, 0
	}
	return nil
}

func closed(file *os.File) error {
	if file == nil {
		return nil
	}
	return file.Close()
}

// next opens the file in which the log goes on; nil: in this one.
func (f *follower) next() (*os.File, error) {
	here, err := f.file.Stat()
	if err != nil {
		return nil, err
	}
	if there, err := os.Stat(f.path); err == nil && os.SameFile(here, there) {
		return nil, nil
	}
	files, err := Files(f.path)
	if err != nil {
		return nil, err
	}
	// If the file is not among them, it was removed, or another program has moved it.
	i := slices.IndexFunc(files, func(path string) bool {
		info, err := os.Stat(path)
		return err == nil && os.SameFile(here, info)
	})
	for _, path := range files[i+1:] {
		file, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		info, err := file.Stat()
		if err == nil {
			var end position
			if end, _, err = lastPosition(file, info.Size()); err == nil && end.seq > f.seq {
				return file, nil
			}
		}
		if err := errors.Join(err, file.Close()); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// read reads the lines from at on. It leaves an incomplete line for later. It fails if lines are
// missing, because their file was removed before they were read, or another program changed it.
func (f *follower) read(ctx context.Context, q *filter, found func(Line) error) error {
	info, err := f.file.Stat()
	if err != nil {
		return err
	}
	f.at = min(f.at, info.Size()) // another program may have cut the file
	return eachLine(f.path, io.NewSectionReader(f.file, f.at, info.Size()-f.at), func(_ int, text []byte, whole bool) error {
		if !whole {
			return ctx.Err()
		}
		f.at += int64(len(text)) + 1
		switch number := numberOf(text); {
		case number > 0 && number <= f.seq: // it was read in a file that another program has moved
			return ctx.Err()
		case f.seq > 0 && number > f.seq+1:
			return fmt.Errorf("following the audit log %s: the lines %d to %d are gone; they were not read", f.path, f.seq+1, number-1)
		default:
			f.seq = max(f.seq, number)
		}
		if line, ok := q.line(text); ok {
			return errors.Join(ctx.Err(), found(line))
		}
		return ctx.Err()
	})
}
