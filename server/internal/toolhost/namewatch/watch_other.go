//go:build !linux

package namewatch

import "errors"

// Watcher watches nothing on this system.
type Watcher struct{}

// Open returns a Watcher that watches nothing.
func Open() (*Watcher, error) { return nil, nil }

// Watch fails, unless names is empty.
func (w *Watcher) Watch(paths []string, _ func(path string)) (stop func(), err error) {
	if len(paths) == 0 {
		return func() {}, nil
	}
	return nil, errors.New("watching names: toolhost does so on Linux alone")
}

// Close does nothing.
func (w *Watcher) Close() {}
