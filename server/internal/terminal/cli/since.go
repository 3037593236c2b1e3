package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// Since is the value of a flag such as --since: a time in the past. The zero value is not given.
type Since struct {
	text string
	at   time.Time
}

// AddFlag adds --since to flags.
func (s *Since) AddFlag(flags *pflag.FlagSet, usage string) {
	flags.Var(s, "since", usage)
}

// Time returns the time; zero if the flag was not given.
func (s *Since) Time() time.Time { return s.at }

// String implements pflag.Value.
func (s *Since) String() string { return s.text }

// Type implements pflag.Value.
func (s *Since) Type() string { return "TIME" }

// sinceForms are the accepted forms of a point in time. Without a zone it is local.
var sinceForms = []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02"}

// Set implements pflag.Value.
func (s *Since) Set(text string) error {
	now := time.Now()
	at, err := sinceTime(text, now)
	if err != nil {
		return err
	}
	if at.After(now) {
		return fmt.Errorf("%s is in the future", text)
	}
	s.text, s.at = text, at
	return nil
}

func sinceTime(text string, now time.Time) (time.Time, error) {
	if days, found := strings.CutSuffix(text, "d"); found {
		if n, err := strconv.ParseUint(days, 10, 16); err == nil {
			return now.AddDate(0, 0, -int(n)), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	for _, form := range sinceForms {
		if at, err := time.ParseInLocation(form, text, time.Local); err == nil {
			return at, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no time; write how long ago, such as 90m, 24h or 7d, or when, such as 2026-01-31 or 2026-01-31T08:00:00Z", text)
}
