package pluginfolder

import (
	"errors"
	"os"
)

// exchangeInSteps exchanges the files of two paths. For a moment there is nothing at b. A watching
// toolhost takes a plugin for removed only if two looks miss it.
func exchangeInSteps(a, b string) error {
	aside := a + ".aside"
	if err := os.Rename(b, aside); err != nil {
		return err
	}
	if err := os.Rename(a, b); err != nil {
		return errors.Join(err, os.Rename(aside, b))
	}
	return os.Rename(aside, a)
}
