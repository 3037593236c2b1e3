package pluginfolder

import (
	"errors"
	"os"
)

// exchangeInSteps lets two paths change places. For a moment there is nothing at b. A toolhost that watches takes nothing
// for gone that it has missed only once.
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
