//go:build !unix

package processors

func processUsage() (usage, bool) { return usage{}, false }
