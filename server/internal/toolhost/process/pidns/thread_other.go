//go:build !linux

package pidns

func isMain() bool { return false }
