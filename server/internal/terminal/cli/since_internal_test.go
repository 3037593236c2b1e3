package cli

import (
	"strings"
	"testing"
	"time"
)

func TestSince(t *testing.T) {
	now := time.Date(2026, 3, 10, 12, 0, 0, 0, time.Local)
	for text, want := range map[string]time.Time{
		"90m":                  now.Add(-90 * time.Minute),
		"24h":                  now.Add(-24 * time.Hour),
		"7d":                   time.Date(2026, 3, 3, 12, 0, 0, 0, time.Local),
		"2026-03-09":           time.Date(2026, 3, 9, 0, 0, 0, 0, time.Local),
		"2026-03-09 08:30":     time.Date(2026, 3, 9, 8, 30, 0, 0, time.Local),
		"2026-03-09T08:30:05Z": time.Date(2026, 3, 9, 8, 30, 5, 0, time.UTC),
	} {
		if got, err := sinceTime(text, now); err != nil || !got.Equal(want) {
			t.Errorf("%s is %v (%v), want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "yesterday", "-3h", "99999d", "2026-13-01"} {
		if _, err := sinceTime(text, now); err == nil || !strings.Contains(err.Error(), "such as 90m") {
			t.Errorf("%q: %v", text, err)
		}
	}
	var s Since
	if err := s.Set("2999-01-01"); err == nil || !s.Time().IsZero() {
		t.Errorf("a time in the future: %v, %v", err, s.Time())
	}
}
