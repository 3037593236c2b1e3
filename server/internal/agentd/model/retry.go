package model

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// RetryableStatus reports whether a repeated request may succeed after an HTTP status: 408, 409,
// 429, every 5xx, and 0, which means no response.
func RetryableStatus(status int) bool {
	switch status {
	case 0, http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return true
	}
	return status >= 500
}

// Retryable reports whether a repeated request may succeed. The header X-Should-Retry decides if
// the provider sent it, otherwise RetryableStatus.
func Retryable(status int, header http.Header) bool {
	switch strings.ToLower(strings.TrimSpace(header.Get("X-Should-Retry"))) {
	case "true":
		return true
	case "false":
		return false
	}
	return RetryableStatus(status)
}

// RetryAfter returns how long the provider asks the client to wait. It reads the headers
// Retry-After-Ms and Retry-After, the latter as seconds or as a date relative to now. It returns 0
// if they are missing, invalid or in the past.
func RetryAfter(header http.Header, now time.Time) time.Duration {
	if wait := WaitOf(header.Get("Retry-After-Ms"), time.Millisecond); wait > 0 {
		return wait
	}
	value := header.Get("Retry-After")
	if wait := WaitOf(value, time.Second); wait > 0 {
		return wait
	}
	if date, err := http.ParseTime(value); err == nil {
		return max(0, date.Sub(now))
	}
	return 0
}

// longestWait prevents an overflow of time.Duration. Callers have lower limits.
const longestWait = 365 * 24 * time.Hour

// WaitOf returns a number of units as a duration, at most a year. It returns 0 unless the text is a
// number above 0.
func WaitOf(value string, unit time.Duration) time.Duration {
	number, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || !(number > 0) {
		return 0
	}
	if number >= float64(longestWait/unit) {
		return longestWait
	}
	return time.Duration(number * float64(unit))
}
