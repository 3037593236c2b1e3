package listen

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestTurns checks that no more goroutines work for a client than it has turns, that the one that
// has waited longest comes next, and that a turn ends after some time.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var client turns
		client.connections.Store(int32(client.most()))
		for range 2 * client.most() {
			client.take() // does not wait: the client has few connections
		}
		client.connections.Add(3)
		var done []func()
		for range client.most() {
			done = append(done, client.take())
		}
		came := make(chan int, 3)
		wait := func(i int) {
			go func() { // ends when it has a turn
				client.take()
				came <- i
			}()
			synctest.Wait()
		}
		wait(1)
		wait(2)
		if len(came) != 0 {
			t.Fatal("there are more turns than allowed")
		}
		done[0]()
		synctest.Wait()
		if len(came) != 1 || <-came != 1 {
			t.Error("the turn did not pass to the one that had waited longest")
		}
		time.Sleep(turnLength)
		if got := <-came; got != 2 {
			t.Errorf("%d came", got)
		}
		time.Sleep(turnLength)
		synctest.Wait()
		if client.taken != 0 {
			t.Errorf("%d turns are taken after all have ended", client.taken)
		}
		for _, end := range done[1:] {
			end() // too late, and without effect
		}
		if client.taken != 0 || len(client.waiting) != 0 {
			t.Errorf("%d turns are taken, %d wait", client.taken, len(client.waiting))
		}
	})
}
