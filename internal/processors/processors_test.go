package processors

import "testing"

func TestShared(t *testing.T) {
	for name, c := range map[string]struct {
		given, now  int
		environment string
		want        int
	}{
		"one":                      {given: 1, now: 1, want: 1},
		"two":                      {given: 2, now: 2, want: 1},
		"three":                    {given: 3, now: 3, want: 1},
		"four":                     {given: 4, now: 4, want: 2},
		"five":                     {given: 5, now: 5, want: 5},
		"many":                     {given: 64, now: 64, want: 64},
		"the operator's number":    {given: 2, now: 2, environment: "2", want: 2},
		"an operator's odd number": {given: 4, now: 4, environment: "x", want: 4},
		"the program's number":     {given: 4, now: 3, want: 3},
		"called twice":             {given: 4, now: 2, want: 2},
	} {
		if got := shared(c.given, c.now, c.environment); got != c.want {
			t.Errorf("%s: %d processors instead of %d", name, got, c.want)
		}
	}
}
