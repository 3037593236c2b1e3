package storetest

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
)

// content returns a content with n random bytes.
func content(n int) runstore.Content {
	data := make([]byte, n)
	rand.Read(data)
	sum := sha256.Sum256(data)
	return runstore.Content{SHA256: hex.EncodeToString(sum[:]), Data: data}
}

func wantContent(t *testing.T, store runstore.Store, runID string, c runstore.Content) {
	t.Helper()
	got, err := store.Content(t.Context(), runID, c.SHA256)
	if err != nil || !bytes.Equal(got, c.Data) {
		t.Errorf("content %s of run %s: %d bytes, %v; want %d bytes", c.SHA256[:8], runID, len(got), err, len(c.Data))
	}
}

func wantNoContent(t *testing.T, store runstore.Store, runID, digest string) {
	t.Helper()
	_, err := store.Content(t.Context(), runID, digest)
	wantError(t, err, runstore.ErrNotFound)
}

// testContents checks that a content belongs to its run, comes with the batch or not at all, and
// does not change.
func testContents(t *testing.T, store runstore.Store) {
	small, large, later, refused := content(1), content(1<<20+17), content(300<<10), content(9)
	first := runstore.Batch{RunID: "r", Records: Records(1, 1), Contents: []runstore.Content{small, large, small}}
	if err := store.Append(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	Must(t, store, "other", 0, 1)
	replaced := content(5)
	replaced.SHA256 = small.SHA256
	second := runstore.Batch{RunID: "r", After: 1, Records: Records(2, 1), Contents: []runstore.Content{later, replaced}}
	if err := store.Append(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	stale := runstore.Batch{RunID: "r", After: 1, Records: Records(2, 1), Contents: []runstore.Content{refused}}
	wantError(t, store.Append(t.Context(), stale), runstore.ErrConflict)

	for _, c := range []runstore.Content{small, large, later} {
		wantContent(t, store, "r", c)
		wantNoContent(t, store, "other", c.SHA256)
	}
	wantNoContent(t, store, "r", refused.SHA256)
	wantNoContent(t, store, "x", small.SHA256)
	Want(t, store, "r", 2)

	got, err := store.Content(t.Context(), "r", small.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	got[0]++ // the result belongs to the caller
	wantContent(t, store, "r", small)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = store.Content(ctx, "r", small.SHA256)
	wantError(t, err, context.Canceled)
}

// testBadContents checks that a batch with a content that no digest can name writes nothing.
func testBadContents(t *testing.T, store runstore.Store) {
	good := content(3)
	for name, bad := range map[string]runstore.Content{
		"no digest": {Data: []byte("x")}, "no data": {SHA256: good.SHA256}, "a path": {SHA256: "../" + good.SHA256[3:], Data: []byte("x")},
	} {
		batch := runstore.Batch{RunID: "r", Records: Records(1, 1), Contents: []runstore.Content{good, bad}}
		if err := store.Append(t.Context(), batch); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	_, err := store.Get(t.Context(), "r")
	wantError(t, err, runstore.ErrNotFound)
}
