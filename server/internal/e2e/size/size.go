// Package size says how much of a large test runs. A large test has a short form, which every run
// of the tests includes, and a whole form, which takes minutes more and shows the same for more
// cases. It does not own the tests' lengths of time, such as that of the chaos test, which are
// flags.
package size

import "os"

// Variable is the environment variable that `make long` sets.
const Variable = "TOOLHOST_LONG_TESTS"

// Long reports whether the whole forms run.
func Long() bool { return os.Getenv(Variable) != "" }
