package cli

import "time"

// LaterEnd returns the end of a decision with more time than until its present end. by is how much;
// 0 means a day, or what is left of the 7 days after the request that a server permits.
func LaterEnd(requested, end time.Time, by time.Duration) time.Time {
	const day = 24 * time.Hour
	if by > 0 {
		return end.Add(by)
	}
	if last := requested.Add(7 * day); last.Before(end.Add(day)) {
		return last
	}
	return end.Add(day)
}
