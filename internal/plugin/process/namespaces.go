package process

import (
	"os"

	"github.com/toolhost/toolhost/internal/plugin/process/pidns"
)

// Namespaces reports whether this machine can make PID namespaces, by making one. It takes a
// millisecond.
func Namespaces() bool {
	made := make(chan bool)
	pidns.Go(func() (reusable bool) {
		namespace, err := pidns.New([]string{}, 0)
		if err != nil {
			made <- false
			return true
		}
		path, err := os.Executable()
		if err == nil {
			err = namespace.Enter(path)
		}
		namespace.Close()
		made <- err == nil
		return false
	})
	return <-made
}
