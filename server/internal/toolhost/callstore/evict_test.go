package callstore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
)

// The bound holds although the store removes results after it adds them.
func TestManyResultsAtOnce(t *testing.T) {
	cfg := config(t)
	cfg.MaxBytes = 80_000
	store := open(t, cfg)
	const calls = 30
	for i := range calls {
		must(t, store.Begin(t.Context(), entry(fmt.Sprint(i))))
	}
	release := stall(t, cfg.Path)
	defer release()
	leaving, leave := context.WithCancel(t.Context())
	leave()
	for i := range calls {
		if err := store.End(leaving, key(fmt.Sprint(i)), answer(strings.Repeat("x", 9000))); !errors.Is(err, context.Canceled) {
			t.Errorf("ending: %v", err)
		}
	}
	shutdown := make(chan struct{})
	go func() { // ends with Close
		defer close(shutdown)
		shut(t, store)
	}()
	release()
	<-shutdown
	data, err := os.Stat(cfg.Path)
	must(t, err)
	if most := int64(80_000 + 30_000); data.Size() > most { // without the bound it is more than 270,000 bytes
		t.Errorf("the file has grown to %d bytes", data.Size())
	}
	store = open(t, cfg)
	for i := range calls {
		wantState(t, store, fmt.Sprint(i), callstore.StateEnded)
	}
}
