package cli_test

import (
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

func TestLaterEnd(t *testing.T) {
	const day = 24 * time.Hour
	requested := time.Unix(0, 0)
	for name, test := range map[string]struct{ end, by, want time.Duration }{
		"a day":             {time.Hour, 0, 25 * time.Hour},
		"what is left":      {6*day + time.Hour, 0, 7 * day},
		"nothing is left":   {8 * day, 0, 7 * day},
		"as long as wanted": {6 * day, 3 * day, 9 * day},
	} {
		if got := cli.LaterEnd(requested, requested.Add(test.end), test.by).Sub(requested); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}
