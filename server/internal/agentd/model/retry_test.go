package model_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	tests := map[string]struct {
		header map[string]string
		want   time.Duration
	}{
		"nothing":             {nil, 0},
		"seconds":             {map[string]string{"Retry-After": "7"}, 7 * time.Second},
		"part of a second":    {map[string]string{"Retry-After": " 0.25 "}, 250 * time.Millisecond},
		"a date":              {map[string]string{"Retry-After": "Fri, 02 Jan 2026 03:05:05 GMT"}, time.Minute},
		"a date that passed":  {map[string]string{"Retry-After": "Fri, 02 Jan 2026 03:04:00 GMT"}, 0},
		"milliseconds first":  {map[string]string{"Retry-After-Ms": "1500", "Retry-After": "9"}, 1500 * time.Millisecond},
		"bad milliseconds":    {map[string]string{"Retry-After-Ms": "x", "Retry-After": "9"}, 9 * time.Second},
		"below zero":          {map[string]string{"Retry-After": "-3"}, 0},
		"no number":           {map[string]string{"Retry-After": "NaN"}, 0},
		"too large a number":  {map[string]string{"Retry-After": "1e300"}, 365 * 24 * time.Hour},
		"infinity":            {map[string]string{"Retry-After": "Inf"}, 365 * 24 * time.Hour},
		"something for a bot": {map[string]string{"Retry-After": "later"}, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			header := http.Header{}
			for key, value := range test.header {
				header.Set(key, value)
			}
			if got := model.RetryAfter(header, now); got != test.want {
				t.Fatalf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestRetryable(t *testing.T) {
	for name, test := range map[string]struct {
		status int
		says   string
		want   bool
	}{
		"no answer":                {0, "", true},
		"too many":                 {429, "", true},
		"overloaded":               {529, "", true},
		"a conflict":               {409, "", true},
		"a timeout":                {408, "", true},
		"wrong":                    {400, "", false},
		"not allowed":              {403, "", false},
		"too large":                {413, "", false},
		"the provider says no":     {503, "false", false},
		"the provider says yes":    {400, " True ", true},
		"the provider says little": {503, "maybe", true},
	} {
		if got := model.Retryable(test.status, http.Header{"X-Should-Retry": {test.says}}); got != test.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}
