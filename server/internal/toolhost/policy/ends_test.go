package policy_test

import "context"

// endsAt is a context that ends after it was asked that many times.
type endsAt struct {
	context.Context
	left int
}

func (c *endsAt) Err() error {
	if c.left--; c.left >= 0 {
		return nil
	}
	return c.Context.Err()
}
