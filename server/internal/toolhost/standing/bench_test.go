package standing_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/standing"
	"github.com/toolhost/toolhost/tool"
)

// BenchmarkCreate creates an approval beside others in force, and asks when the next one expires,
// as toolhost does after each. The time does not depend on their number.
func BenchmarkCreate(b *testing.B) {
	for _, others := range []int{2_000, 24_000} {
		b.Run(fmt.Sprint(others), func(b *testing.B) {
			s, err := standing.Open(b.Context(), standing.Config{Path: filepath.Join(b.TempDir(), standing.File), Ledger: "one"})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			create := func(i int) {
				p := proposal(func(r *tool.ApprovalRequest, a *tool.StandingApproval) {
					r.RequestID, r.Principal = fmt.Sprint(i), fmt.Sprint("red/", i%1000)
					a.Principal = r.Principal
				})
				p.Limits = standing.Limits{PerPrincipal: 1 << 30, PerTenant: 1 << 30}
				if _, created, err := s.Create(b.Context(), p); err != nil || !created {
					b.Fatalf("created %v: %v", created, err)
				}
				s.Next()
			}
			for i := range others {
				create(i)
			}
			for i := others; b.Loop(); i++ {
				create(i)
			}
		})
	}
}
