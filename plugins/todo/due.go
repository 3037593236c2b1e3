package main

import (
	"fmt"
	"time"
)

// dueDescription tells the model the forms of a due time.
const dueDescription = "when it has to be done: a day such as 2026-12-01, or a time such as 2026-12-01T15:00:00Z"

// parseDue returns the end of a due time: of the day in UTC, if it is a day.
func parseDue(due string) (time.Time, error) {
	if day, err := time.Parse(time.DateOnly, due); err == nil {
		return day.AddDate(0, 0, 1), nil
	}
	at, err := time.Parse(time.RFC3339, due)
	if err != nil {
		return time.Time{}, fmt.Errorf("the due time %q is not valid; write a day such as 2026-12-01, or a time such as 2026-12-01T15:00:00Z", due)
	}
	return at, nil
}

// checkDue returns an error for the model if a due time is neither empty nor valid.
func checkDue(due string) error {
	if due == "" {
		return nil
	}
	_, err := parseDue(due)
	return err
}

// overdue reports whether a due time has passed. A due time of another program may be ill-formed,
// and never passes.
func overdue(due string, now time.Time) bool {
	at, err := parseDue(due)
	return err == nil && !now.Before(at)
}

// timestamp returns the present time as todos store it.
func timestamp() string { return time.Now().UTC().Format(time.RFC3339) }
