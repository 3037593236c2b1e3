package pidns

import "runtime"

// Go runs f in a goroutine that is locked to a thread. f returns whether the thread may be used again; otherwise it ends
// with f. It is never the main thread, whose namespaces are what /proc shows as the whole process's.
func Go(f func() (reusable bool)) {
	go func() {
		runtime.LockOSThread()
		if !isMain() {
			run(f)
			return
		}
		elsewhere := make(chan struct{})
		go func() {
			runtime.LockOSThread() // on another, for this one is taken
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
