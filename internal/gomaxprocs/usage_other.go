//go:build !unix

package gomaxprocs

func processUsage() (usage, bool) { return usage{}, false }
