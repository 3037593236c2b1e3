package callstore_test

import "maps"

// children are what the test binary does instead of testing.
func children() map[string]func(args []string) error {
	all := map[string]func(args []string) error{"calls": makeCalls}
	maps.Copy(all, childrenHere())
	return all
}
