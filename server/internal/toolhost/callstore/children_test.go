package callstore_test

import "maps"

// children are the functions that the test binary can execute instead of the tests.
func children() map[string]func(args []string) error {
	all := map[string]func(args []string) error{"calls": makeCalls}
	maps.Copy(all, childrenHere())
	return all
}
