package pidns

import "runtime"

// Go runs f in a goroutine that is locked to a thread. That is never the main thread, because /proc
// shows the namespaces of the main thread as those of the process. f returns whether the thread may
// be used again. Otherwise the thread ends with f.
func Go(f func() (reusable bool)) {
	go func() { // ends with f
		runtime.LockOSThread()
		if !isMain() {
			run(f)
			return
		}
		elsewhere := make(chan struct{})
		go func() {
			runtime.LockOSThread() // on another thread: this goroutine holds the main one
			close(elsewhere)
			run(f)
		}()
		<-elsewhere
		runtime.UnlockOSThread()
	}()
}

func run(f func() bool) {
	if f() {
		runtime.UnlockOSThread()
	}
}
