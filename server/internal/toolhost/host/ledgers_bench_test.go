//go:build more

package host_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/testkit/postgrestest"
	database "github.com/toolhost/toolhost/server/internal/store/postgres"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore/postgres"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
)

// BenchmarkLedgers measures calls with and without side effects, with the ledger in a file and in
// PostgreSQL. The ratio of the two at the same number of callers counts, not the times. See
// docs/scale.md.
func BenchmarkLedgers(b *testing.B) {
	text, _ := json.Marshal(map[string]any{"size": 1 << 10, "note": strings.Repeat("all work and no play ", 8)}) // cannot fail
	for _, name := range []string{"echo", "change"} {
		for _, callers := range []int{1, 16, 64} {
			for ledger, open := range map[string]func(b *testing.B) callstore.Calls{"file": fileLedger, "postgres": sharedLedger} {
				b.Run(fmt.Sprintf("tool=%s/callers=%d/ledger=%s", name, callers, ledger), func(b *testing.B) {
					h := benchHostOf(b, host.Config{Calls: open(b)})
					benchCalls(b, h, callers, name, text)
				})
			}
		}
	}
}

func fileLedger(b *testing.B) callstore.Calls {
	calls, err := callstore.Open(b.Context(), callstore.Config{Path: filepath.Join(b.TempDir(), "calls.db")})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { calls.Close() })
	return calls
}

func sharedLedger(b *testing.B) callstore.Calls {
	calls, err := postgres.Open(b.Context(), postgres.Config{
		Database: database.Config{URL: postgrestest.Start(b, "fsync=on").URL("postgres")}, Node: postgres.Node{Name: "machine", Folder: "a", Boot: "boot"},
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = calls.Close() })
	return calls
}
