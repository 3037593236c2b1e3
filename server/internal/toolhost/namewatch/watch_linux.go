package namewatch

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mask selects the events after which a name in a folder may denote another file.
const mask = unix.IN_CREATE | unix.IN_MOVED_TO | unix.IN_MOVED_FROM | unix.IN_DELETE | unix.IN_ONLYDIR | unix.IN_DONT_FOLLOW

// Watcher watches names. All methods are safe for concurrent use. The zero value and nil watch
// nothing. Open makes a Watcher that does. Close it.
type Watcher struct {
	file    *os.File
	reading sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	folders map[int32]*folder // by the watch descriptor
}

// folder is a folder with watched names.
type folder struct {
	names map[string]map[*subscription]struct{}
	count int // of subscriptions, once for each name
}

// subscription is the argument of one call of Watch.
type subscription struct {
	changed func(path string)
	places  []placed
}

type placed struct {
	folder int32
	name   string
	path   string
}

// Open returns a Watcher. An error means that the kernel allows no more of them.
func Open() (*Watcher, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("watching names: %w", err)
	}
	w := &Watcher{file: os.NewFile(uintptr(fd), "inotify"), folders: map[int32]*folder{}}
	w.reading.Go(w.read) // ends with the file, which Close closes
	return w, nil
}

// Watch calls changed whenever one of the names, given as absolute paths, begins to denote another
// file, until stop is called. It watches the folder that holds a name now. To learn of the folder's
// replacement, watch the folder's name, too. The Watcher's goroutine calls changed, which must not
// block and must not call the Watcher. A call may still arrive while stop is called. If the kernel
// loses events because too many happen, changed is called with an empty path, and the caller has to
// compare the names. An error means that nothing is watched.
func (w *Watcher) Watch(paths []string, changed func(path string)) (stop func(), err error) {
	if len(paths) == 0 {
		return func() {}, nil
	}
	if w == nil || w.file == nil {
		return nil, errors.New("watching names: this toolhost watches none")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil, fmt.Errorf("watching names: %w", os.ErrClosed)
	}
	s := &subscription{changed: changed}
	for _, path := range paths {
		if err := w.addLocked(s, path); err != nil {
			w.removeLocked(s)
			return nil, err
		}
	}
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.removeLocked(s)
	}, nil
}

func (w *Watcher) addLocked(s *subscription, path string) error {
	number, err := unix.InotifyAddWatch(w.fd(), filepath.Dir(path), mask)
	if err != nil {
		return fmt.Errorf("watching the name %s: %w", path, err)
	}
	place := placed{folder: int32(number), name: filepath.Base(path), path: path}
	f := w.folders[place.folder]
	if f == nil {
		f = &folder{names: map[string]map[*subscription]struct{}{}}
		w.folders[place.folder] = f
	}
	if f.names[place.name] == nil {
		f.names[place.name] = map[*subscription]struct{}{}
	}
	f.names[place.name][s] = struct{}{}
	f.count++
	s.places = append(s.places, place)
	return nil
}

func (w *Watcher) removeLocked(s *subscription) {
	for _, place := range s.places {
		f := w.folders[place.folder]
		if f == nil {
			continue // the folder is gone
		}
		delete(f.names[place.name], s)
		if len(f.names[place.name]) == 0 {
			delete(f.names, place.name)
		}
		if f.count--; f.count == 0 {
			delete(w.folders, place.folder)
			if !w.closed {
				_, _ = unix.InotifyRmWatch(w.fd(), uint32(place.folder)) // the folder may be gone
			}
		}
	}
	s.places = nil
}

// fd returns the descriptor, which stays open while w.closed is false.
func (w *Watcher) fd() int {
	raw, err := w.file.SyscallConn()
	if err != nil {
		return -1
	}
	fd := -1
	_ = raw.Control(func(open uintptr) { fd = int(open) }) // on an error fd stays -1, which the kernel refuses
	return fd
}

// Close ends all watches and returns when no report is running. It may be called more than once,
// and on nil.
func (w *Watcher) Close() {
	if w == nil || w.file == nil {
		return
	}
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	_ = w.file.Close()
	w.reading.Wait()
}

// read reads events until the file is closed.
func (w *Watcher) read() {
	const room = 64 << 10
	for buffer := make([]byte, room); ; {
		n, err := w.file.Read(buffer)
		if err != nil {
			return
		}
		for events := buffer[:n]; len(events) >= unix.SizeofInotifyEvent; {
			event := (*unix.InotifyEvent)(unsafe.Pointer(&events[0]))
			end := unix.SizeofInotifyEvent + int(event.Len)
			w.report(event.Wd, event.Mask, string(bytes.TrimRight(events[unix.SizeofInotifyEvent:end], "\x00")))
			events = events[end:]
		}
	}
}

// report passes an event on to the subscriptions that it concerns.
func (w *Watcher) report(number int32, what uint32, name string) {
	type call struct {
		s    *subscription
		path string
	}
	var calls []call
	collect := func(wd int32, watched string) {
		for s := range w.folders[wd].names[watched] {
			for _, place := range s.places {
				if place.folder == wd && place.name == watched {
					calls = append(calls, call{s, place.path})
				}
			}
		}
	}
	w.mu.Lock()
	f := w.folders[number]
	switch {
	case what&unix.IN_Q_OVERFLOW != 0:
		for _, s := range w.allLocked() {
			calls = append(calls, call{s: s})
		}
	case f != nil && what&(unix.IN_IGNORED|unix.IN_UNMOUNT) != 0:
		for watched := range f.names {
			collect(number, watched)
		}
		delete(w.folders, number)
	case f != nil:
		collect(number, name)
	}
	w.mu.Unlock()
	for _, c := range calls {
		c.s.changed(c.path)
	}
}

// allLocked returns each subscription once.
func (w *Watcher) allLocked() []*subscription {
	all := map[*subscription]struct{}{}
	for _, f := range w.folders {
		for _, subscriptions := range f.names {
			maps.Copy(all, subscriptions)
		}
	}
	return slices.Collect(maps.Keys(all))
}
