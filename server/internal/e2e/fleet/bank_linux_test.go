//go:build more

package fleet_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"sync"
	"testing"
)

// bank pays as often as it is asked, unless a key is void. Its log is the truth about what has
// happened.
type bank struct {
	url string

	mu     sync.Mutex
	paid   map[string]string   // the receipt of each key
	void   map[string]bool     // by key
	calls  map[string][]string // the receipts of each call
	twice  []string            // keys that were paid more than once
	voided int                 // payments of keys that were void
}

// openBank opens a bank at an address until the end of the test.
func openBank(t *testing.T, address string) *bank {
	t.Helper()
	b := &bank{url: "http://" + address, paid: map[string]string{}, void: map[string]bool{}, calls: map[string][]string{}}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: b}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }() // ends with Close
	t.Cleanup(func() {
		_ = server.Close() // what it says, Serve says, too
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("the bank: %v", err)
		}
	})
	return b
}

// attempts matches the end of the id of a call that is not its first attempt.
var attempts = regexp.MustCompile(`\.a[0-9]+$`)

func (b *bank) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key, call := r.FormValue("key"), attempts.ReplaceAllString(r.FormValue("call"), "")
	b.mu.Lock()
	defer b.mu.Unlock()
	receipt, paid := b.paid[key]
	switch r.URL.Path {
	case "/pay":
		if b.void[key] {
			b.voided++
			http.Error(w, "the key is void", http.StatusConflict)
			return
		}
		if paid {
			b.twice = append(b.twice, key)
		}
		receipt, paid = rand.Text(), true
		b.paid[key] = receipt
		b.calls[call] = append(b.calls[call], receipt)
	case "/seal":
		b.void[key] = !paid
	}
	if !paid {
		http.Error(w, "not paid", http.StatusNotFound)
		return
	}
	fmt.Fprint(w, receipt)
}

// receipts returns the receipts of a call, of all its attempts.
func (b *bank) receipts(call string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.calls[attempts.ReplaceAllString(call, "")]
}

// payments returns how many calls were paid.
func (b *bank) payments() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.calls)
}
